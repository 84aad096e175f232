import { createHashHistory, createRootRoute, createRoute, createRouter } from '@tanstack/react-router'
import { lazyPart } from './parts/lazy-part.tsx'
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

const views = {
  '/': async () => (await import('./views/runs.tsx')).Runs,
  '/runs/$run': async () => (await import('./views/run.tsx')).Run,
  '/runs/$run/$trial': async () => (await import('./views/trial.tsx')).Trial,
  '/tasks': async () => (await import('./views/tasks.tsx')).Tasks,
  '/tasks/$task': async () => (await import('./views/task.tsx')).Task,
  '/queue': async () => (await import('./views/queue.tsx')).Queue,
  '/guard': async () => (await import('./views/guard.tsx')).Guard,
  '/guard/$session': async () => (await import('./views/guard-session.tsx')).GuardSession,
  '/compare': async () => (await import('./views/compare.tsx')).Compare,
  '/side-by-side': async () => (await import('./views/side-by-side.tsx')).SideBySide,
  '/trends': async () => (await import('./views/trends.tsx')).Trends,
  '/labels': async () => (await import('./views/labels.tsx')).Labels,
  '/plugins': async () => (await import('./views/plugins.tsx')).Plugins,
}

const parts = Object.entries(views).map(([path, load]) =>
  createRoute({ getParentRoute: () => root, path, component: lazyPart(load) }),
)

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
