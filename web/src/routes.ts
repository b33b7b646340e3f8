// routes.ts - the table of views: one line per view. SPDX-License-Identifier: Apache-2.0
import type { ComponentType } from 'preact';
import { HomeView } from './views/home';

export interface Route {
  path: string; title: string; view: ComponentType;
  /** In the menu under this word, with this letter behind `g`. */
  nav?: string; key?: string;
  /** Only for an administrator's token. */
  admin?: boolean;
}

export const routes: Route[] = [
  { path: '/', title: 'Home', nav: 'Home', key: 'h', view: HomeView },
];
