import { dirname, join } from 'node:path'
import type { AgentRequest } from '../../agents/contract.ts'
import type { ResolvedAgent } from '../../config/resolve-agent.ts'
import { hookBinPath } from '../../guard-install/hook-program.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { realPath } from '../../io/resolve-links.ts'
import type { CacheMount, SandboxEngine, SandboxOpening } from '../../sandboxes/contract.ts'
import { sandboxEngines } from '../../sandboxes/index.ts'
import type { VerificationConfig } from '../../verifier/contract.ts'
import type { TaskSite } from '../task-request.ts'

/** Where the Editor's commands, or its process, run. */
export interface EditorPlace {
  /** That of the steps. */
  readonly engine: SandboxEngine
  readonly config: VerificationConfig
  /** The layers of setup, the newest first. */
  readonly installed: () => Promise<readonly string[]>
  /** Has one directory per named cache. */
  readonly cachesDir: string
  /** The repository of the user. */
  readonly origin: string
  /** The environment of the caller, to find programs. */
  readonly env: Readonly<Record<string, string>>
  /** gantry.yaml gives the agent the home directory of the user. */
  readonly sharesHome: boolean
}

/** An agent whose process could run inside, with the boundary as its way to a model. */
export function isProgram({ driver, probe }: ResolvedAgent): boolean {
  return probe.path !== undefined && driver.name !== 'claude-sdk'
}

/** The engine for the process of an agent, or why it has to run outside. */
export async function engineForProgram(
  agent: ResolvedAgent,
  hasModelLink: boolean,
  { engine, env, sharesHome }: EditorPlace,
): Promise<SandboxEngine | { readonly why: string }> {
  if (!isProgram(agent)) return { why: `agents of the driver ${agent.driver.name} cannot run in it` }
  if (sharesHome) return { why: 'gantry.yaml has home: host' }
  const [key = 'its API key'] = agent.driver.modelAccess?.credentials ?? []
  if (!hasModelLink) return { why: `it uses your login. With ${key} it runs inside` }
  if (engine.name !== 'docker') return engine
  const { usable, detail } = await sandboxEngines.bubblewrap.probe({ env })
  return usable ? sandboxEngines.bubblewrap : { why: `that needs bubblewrap: ${detail}` }
}

/**
 * A sandbox in which the tree of the task is writable, and of the user's files only the Editor's own home and scratch directories are
 * there. Opened on first use. `program`: of the agent; null for one that runs in this process. `ports`: of the boundary.
 */
export function editorSandbox(
  { engine, config, origin, env: host, installed, cachesDir }: EditorPlace,
  { run, root, home, scratch, signal }: TaskSite,
  program: string | null,
  ports: () => Promise<readonly number[]>,
) {
  const { image, limits, setup = [], network } = config
  const installs = setup.some((step) => (step.network ?? network) === 'allow')
  const mount = (writes: CacheMount['writes']) => (path: string) => ({ source: path, target: path, writes })
  let opened: Promise<SandboxOpening> | null = null
  const open = (): Promise<SandboxOpening> => {
    opened ??= Promise.all([ports(), installed()]).then(([open, layers]) =>
      engine.open({
        ...{ runId: run.id, image, repository: root, origin, artifacts: scratch, env: host, signal },
        workspace: 'writable',
        network: network === 'none' && installs ? 'allow' : network,
        // An agent needs more than a test may use.
        limits: program === null ? limits : { ...limits, memoryBytes: 2 ** 33, pids: 2 ** 12 },
        caches: [
          ...[home, scratch].map(mount('through')),
          ...config.caches
            .map(({ name, path }) => ({ ...mount('aside')(path), source: join(cachesDir, name) }))
            .filter(({ source }) => isDirectory(source)),
          ...(program === null ? [] : treesOf(program)).map(mount('refused')),
        ],
        ports: open,
        // Of the packages in its home directory; the tree has a copy of the others.
        layers,
      }),
    )
    return opened
  }
  let last: Promise<unknown> = Promise.resolve()
  return {
    open,
    /** Shell commands, one at a time, with these variables instead of the caller's. */
    run: (env: Readonly<Record<string, string>>): NonNullable<AgentRequest['sandbox']>['run'] => {
      return (step) => {
        const ran = last.then(async () => {
          const opening = await open()
          return opening.kind === 'open' ? opening.sandbox.run({ ...step, env }) : opening
        })
        last = ran.catch(() => {})
        return ran
      }
    },
    [Symbol.asyncDispose]: async (): Promise<void> => {
      const opening = await opened
      if (opening?.kind === 'open') await opening.sandbox.close()
    },
  }
}

/** The agent with the packages around it, and what its hooks start. Programs of the system are there anyway. */
function treesOf(program: string): readonly string[] {
  const real = realPath(program)
  const [, packages = dirname(real)] = /^(.*?\/node_modules)\//.exec(real) ?? []
  const trees = [packages, dirname(process.execPath), dirname(dirname(hookBinPath()))]
  return [...new Set(trees)].filter((path) => !path.startsWith('/usr/'))
}
