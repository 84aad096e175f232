import { type HookedAgent, hookCodecs } from '../agents/hook-codecs.ts'
import type { HookPlace } from '../agents/hook-installer.ts'
import { hookInstallerOf } from '../agents/hook-installers.ts'
import { hooksOfDriver } from '../agents/index.ts'
import { findInstalls, readFiles, whySwitchedOff } from './find-installs.ts'
import type { HookProgram } from './hook-program.ts'

/** How the guard holds the agent of a run. */
export type AgentGuard =
  /** The agent runs in our own process and asks the guard itself. */
  | { readonly kind: 'in_process' }
  /** A person installed it. */
  | {
      readonly kind: 'installed'
      readonly agent: HookedAgent
      readonly path: string
      /** Why it may not hold all the same. */
      readonly problems: readonly string[]
    }
  /** Nobody has: it is put in for the time of the run. */
  | { readonly kind: 'temporary'; readonly agent: HookedAgent; readonly path: string }
  | { readonly kind: 'none'; readonly why: string }

/** Looks, and changes nothing. `place` is that of the agent: its home and its environment. */
export function guardForAgent(
  driver: string,
  place: HookPlace,
  program: HookProgram,
  trustsHooks: boolean,
): AgentGuard {
  const agent = hooksOfDriver(driver)
  if (agent === 'in_process') return { kind: 'in_process' }
  if (agent === null) return { kind: 'none', why: `an agent of the driver ${driver} has no hooks` }
  const installer = hookInstallerOf(agent, hookCodecs[agent])
  const [found] = findInstalls(agent, installer, { place, program })
  if (found !== undefined) return { kind: 'installed', agent, path: found.path, problems: found.problems }
  if (!trustsHooks)
    return { kind: 'none', why: `${agent} runs no hooks that nobody trusted, and trust_hooks is false` }
  const files = installer.files('project', place)
  const off = whySwitchedOff(installer, readFiles(files), place)
  if (off !== null) return { kind: 'none', why: off }
  const [path = ''] = files
  return { kind: 'temporary', agent, path }
}

/** One sentence for a person. What does not hold is said aloud. */
export function describeGuard(guard: AgentGuard, agent: string): string {
  switch (guard.kind) {
    case 'in_process':
      return `${agent} runs in this process and asks the guard before every tool and every stop`
    case 'installed':
      return guard.problems.length === 0
        ? `installed in ${guard.path}`
        : `installed in ${guard.path}, but: ${guard.problems.join('; ')}`
    case 'temporary':
      return `installed in ${guard.path} for the time of the run`
    case 'none':
      return `UNGUARDED: ${guard.why}. Only Gantry's own verification decides`
  }
}
