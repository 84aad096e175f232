import {
  createHashHistory,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { Shell } from './parts/shell.tsx'
import { Empty, Loading, Problem } from './parts/states.tsx'

/** Every filter of a view is in its address. */
type Search = Readonly<Record<string, string>>

/** Whatever is in an address is text; views ignore words they do not know. */
function textOnly(search: Record<string, unknown>): Search {
  return Object.fromEntries(
    Object.entries(search).flatMap(([key, value]) =>
      value === undefined || value === null || value === '' ? [] : [[key, String(value)]],
    ),
  )
}

const root = createRootRoute({ component: Shell, validateSearch: textOnly })

const parts = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    component: lazyRouteComponent(() => import('./views/runs.tsx'), 'Runs'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/$run',
    component: lazyRouteComponent(() => import('./views/run.tsx'), 'Run'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/$run/$trial',
    component: lazyRouteComponent(() => import('./views/trial.tsx'), 'Trial'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/tasks',
    component: lazyRouteComponent(() => import('./views/tasks.tsx'), 'Tasks'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/tasks/$task',
    component: lazyRouteComponent(() => import('./views/task.tsx'), 'Task'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/guard',
    component: lazyRouteComponent(() => import('./views/guard.tsx'), 'Guard'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/guard/$session',
    component: lazyRouteComponent(() => import('./views/guard-session.tsx'), 'GuardSession'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/compare',
    component: lazyRouteComponent(() => import('./views/compare.tsx'), 'Compare'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/side-by-side',
    component: lazyRouteComponent(() => import('./views/side-by-side.tsx'), 'SideBySide'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/trends',
    component: lazyRouteComponent(() => import('./views/trends.tsx'), 'Trends'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/labels',
    component: lazyRouteComponent(() => import('./views/labels.tsx'), 'Labels'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/plugins',
    component: lazyRouteComponent(() => import('./views/plugins.tsx'), 'Plugins'),
  }),
]

export const router = createRouter({
  routeTree: root.addChildren(parts),
  history: createHashHistory(),
  // Search values are plain texts, not JSON, so that addresses can be read and written by people.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const words = new URLSearchParams(textOnly(search)).toString()
    return words === '' ? '' : `?${words}`
  },
  defaultPendingComponent: () => <Loading what="the page" />,
  defaultErrorComponent: ({ error, reset }) => <Problem error={error} retry={reset} />,
  defaultNotFoundComponent: () => (
    <Empty title="There is no such page.">
      <p>The address may be from another version. Go to Runs to find what you look for.</p>
    </Empty>
  ),
})
