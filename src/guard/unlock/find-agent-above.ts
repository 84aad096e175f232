import { basename } from 'node:path'
import { type Ancestor, processAncestors } from '../../io/process-ancestors.ts'
import { agentOf, agentVariable } from './agent-marks.ts'

export interface Descent {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  /** Processes that hooks have seen to be agents. */
  readonly agentPids?: readonly number[]
}

/** How it is known that an agent started this process, as the end of a sentence; null when nothing says so. */
export async function findAgentAbove({ env, pid, agentPids = [] }: Descent): Promise<string | null> {
  const own = agentVariable(Object.keys(env).filter((name) => env[name] !== undefined))
  if (own !== null) return `the variable ${own} is set, which agents give to what they start`
  const ancestors = await processAncestors(pid)
  if (ancestors === null) return 'this system does not tell which program started this one'
  for (const { pid: above, argv, variables } of ancestors) {
    const agent = agentOf(argv)
    if (agent !== null) return `it was started by ${agent} (process ${above})`
    if (agentPids.includes(above)) return `it was started by a guarded agent (process ${above})`
    const variable = agentVariable(variables)
    if (variable !== null) return `process ${above} above it has the variable ${variable} of an agent`
  }
  return orphanedTerminal(ancestors)
}

/** They make terminals for programs. A person's terminal comes from a login, an emulator, an editor or a multiplexer. */
const terminalMakers = /^(script|expect|unbuffer|socat|python[\d.]*|perl|ruby)$/

/** Whoever wants to hide that an agent made a terminal ends every process between: what is left has nobody above it. */
function orphanedTerminal(ancestors: readonly Ancestor[]): string | null {
  const isInit = ({ pid, argv }: Ancestor): boolean => pid === 1 || basename(argv[0] ?? '') === 'systemd'
  const top = ancestors.findLast((ancestor) => !isInit(ancestor))
  if (top === undefined || !ancestors.some(isInit)) return null
  const name = basename(top.argv[0] ?? '')
  const isOrphan = top.leader === 'gone' || (top.leader === 'self' && terminalMakers.test(name))
  return isOrphan ? `it comes from ${name} (process ${top.pid}), and whoever started that is gone` : null
}
