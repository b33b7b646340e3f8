// routes.ts - the table of views: one line per view. SPDX-License-Identifier: Apache-2.0
import type { ComponentType } from 'preact';
import { AdminView } from './views/admin';
import { HomeView } from './views/home';
import { LevelsView } from './views/levels';
import { MapView } from './views/map';
import { NodeView } from './views/node';
import { PoolView } from './views/pool';
import { EditPoolView, NewPoolView } from './views/pool_form';
import { NodesView, PoolsView } from './views/pools';
import { QueueView } from './views/queue';
import { ReportView } from './views/report';
import { SubmitView } from './views/submit';
import { TaskView } from './views/task';
import { TasksView } from './views/tasks';
import { TimelineView } from './views/timeline';
import { UsageView } from './views/usage';

export interface Route {
  path: string; title: string; view: ComponentType;
  /** In the menu under this word, with this letter behind `g`. */
  nav?: string; key?: string;
  /** Only for an administrator's token. */
  admin?: boolean;
}

export const routes: Route[] = [
  { path: '/', title: 'Home', nav: 'Home', key: 'h', view: HomeView },
  { path: '/map', title: 'Slot map', nav: 'Map', key: 'm', view: MapView },
  { path: '/levels', title: 'Water levels', nav: 'Levels', key: 'l', view: LevelsView },
  { path: '/tasks', title: 'Tasks', nav: 'Tasks', key: 't', view: TasksView },
  { path: '/tasks/:id', title: 'Task', view: TaskView },
  { path: '/submit', title: 'Submit a task', key: 's', view: SubmitView },
  { path: '/queue', title: 'Queue', nav: 'Queue', key: 'q', view: QueueView },
  { path: '/pools', title: 'Pools', nav: 'Pools', key: 'p', view: PoolsView },
  { path: '/pools/:name', title: 'Pool', view: PoolView },
  { path: '/pools/:name/edit', title: 'Change a pool', view: EditPoolView, admin: true },
  { path: '/new/pool', title: 'Create a pool', view: NewPoolView, admin: true },
  { path: '/nodes', title: 'Nodes', nav: 'Nodes', key: 'n', view: NodesView },
  { path: '/nodes/:name', title: 'Node', view: NodeView },
  { path: '/timeline', title: 'Timeline', nav: 'Timeline', key: 'i', view: TimelineView },
  { path: '/usage', title: 'Usage', nav: 'Usage', key: 'u', view: UsageView },
  { path: '/report', title: 'Simulation', key: 'r', view: ReportView },
  { path: '/admin', title: 'Administration', nav: 'Admin', key: 'a', view: AdminView, admin: true },
  { path: '/admin/:tab', title: 'Administration', view: AdminView, admin: true },
];
