// main.tsx - the start of the page. SPDX-License-Identifier: Apache-2.0
import { render } from 'preact';
import './app.css';
import { whoAmI } from './lib/me';
import { Shell } from './shell';

render(<Shell />, document.getElementById('app') as HTMLElement);
void whoAmI();
