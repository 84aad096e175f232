import { type HookedAgent, hookCodecs } from '../agents/hook-codecs.ts'
import type { HookPlace } from '../agents/hook-installer.ts'
import { hookInstallerOf } from '../agents/hook-installers.ts'
import { hooksOfDriver } from '../agents/index.ts'
import { findInstalls, readFiles } from './find-installs.ts'
import type { HookProgram } from './hook-program.ts'

export type AgentGuard =
  /** The agent runs in our process and asks the guard itself. */
  | { readonly kind: 'in_process' }
  /** Installed by a person. */
  | {
      readonly kind: 'installed'
      readonly agent: HookedAgent
      readonly path: string
      /** Why the hooks may not work. */
      readonly problems: readonly string[]
    }
  /** Not installed: added for the duration of the run. */
  | { readonly kind: 'temporary'; readonly agent: HookedAgent; readonly path: string }
  | { readonly kind: 'none'; readonly why: string }

/** Reads only. `place` is the home and the environment of the agent. */
export function guardForAgent(
  driver: string,
  place: HookPlace,
  program: HookProgram,
  trustsHooks: boolean,
): AgentGuard {
  const agent = hooksOfDriver(driver)
  if (agent === 'in_process') return { kind: 'in_process' }
  if (agent === null) return { kind: 'none', why: `agents of the driver ${driver} have no hooks` }
  const installer = hookInstallerOf(agent, hookCodecs[agent])
  const found = findInstalls(agent, installer, { place, program }).find(
    ({ presence }) => presence !== 'missing',
  )
  if (found !== undefined) return { kind: 'installed', agent, path: found.path, problems: found.problems }
  if (!trustsHooks)
    return { kind: 'none', why: `${agent} does not run untrusted hooks, and trust_hooks is false` }
  const files = installer.files('project', place)
  const off = installer.switchedOff?.(readFiles(files), place) ?? null
  if (off !== null) return { kind: 'none', why: off }
  const [path = ''] = files
  return { kind: 'temporary', agent, path }
}

/** One sentence for the user. A missing guard is stated explicitly. */
export function describeGuard(guard: AgentGuard, agent: string): string {
  switch (guard.kind) {
    case 'in_process':
      return `${agent} runs in this process and asks the guard before every tool and every stop`
    case 'installed':
      return guard.problems.length === 0
        ? `installed in ${guard.path}`
        : `installed in ${guard.path}, but: ${guard.problems.join('; ')}`
    case 'temporary':
      return `installed in ${guard.path} for the duration of the run`
    case 'none':
      return `UNGUARDED: ${guard.why}. Only Gantry's own verification applies`
  }
}
