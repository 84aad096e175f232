import { join, resolve } from 'node:path'
import { type Clock, systemClock } from '../io/clock.ts'
import { homeDirectory } from '../io/host.ts'
import type { Store } from './contract.ts'

export interface StoreLocation {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Base of a relative path in the environment. */
  readonly cwd: string
  /** Overrides the environment. */
  readonly root?: string
  readonly clock?: Clock
}

/** The store at `root`, `$AGENT_ARTIFACT_DIR` or `~/.agent-artifacts`. Creates nothing until the first write. */
export function openStore({ env, cwd, root, clock = systemClock }: StoreLocation): Store {
  const chosen = root ?? (env.AGENT_ARTIFACT_DIR || '~/.agent-artifacts')
  const absolute = resolve(cwd, expandHome(chosen, env))
  return {
    root: absolute,
    runsDir: join(absolute, 'runs'),
    cacheDir: join(absolute, 'cache'),
    resultsFile: join(absolute, 'results.jsonl'),
    indexFile: join(absolute, 'index.db'),
    clock,
  }
}

function expandHome(path: string, env: StoreLocation['env']): string {
  if (path === '~') return homeDirectory(env)
  return path.startsWith('~/') ? join(homeDirectory(env), path.slice(2)) : path
}
