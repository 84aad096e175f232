import type { Store } from '../store/contract.ts'
import { openStore } from '../store/open-store.ts'
import { loadProject } from './load.ts'

export interface ProjectPlace {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Instead of the gantry.yaml found upward. */
  readonly configFile?: string
}

/** The store of AGENT_ARTIFACT_DIR, else of `results_path` in gantry.yaml, else the one in the home directory. */
export function openProjectStore({ cwd, env, configFile }: ProjectPlace): Store {
  const named = env.AGENT_ARTIFACT_DIR
  if (named !== undefined && named !== '') return openStore({ env, cwd })
  const { root, config } = loadProject(cwd, configFile)
  return config.results_path === undefined
    ? openStore({ env, cwd })
    : openStore({ env, cwd: root, root: config.results_path })
}
