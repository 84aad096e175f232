import { join } from 'node:path'
import { builtinToolCall } from '../agents/builtin/hooks.ts'
import type { AgentHooks } from '../agents/contract.ts'
import { scriptedToolCall } from '../agents/scripted/hooks.ts'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { GantryError } from '../core/error.ts'
import { guardHooks } from '../guard-engine/guard-hooks.ts'
import { openGuard } from '../guard-engine/open-guard.ts'
import { guardForAgent } from '../guard-install/guard-for-agent.ts'
import { buildCheckoutHook, hookBinPath } from '../guard-install/hook-program.ts'
import { installForRun } from '../guard-install/temporary-guard.ts'
import { makeDirectories } from '../io/directory.ts'
import { writeJsonAtomic } from '../io/files.ts'
import { rules } from '../rules/index.ts'
import type { TrialPlace } from './trial-work.ts'

/** An agent that works with the guard in its hooks. */
interface GuardedTrial {
  /** Added to the agent's variables. */
  readonly env: Readonly<Record<string, string>>
  /** For an agent that runs in this process. */
  readonly hooks?: AgentHooks
  /** Takes the hooks out of the workspace. */
  end(): Promise<void>
}

/**
 * The guard of an arm, with a ledger of its own in the directory of the trial. Its views are not written to the workspace, and no helper
 * outlives the trial.
 */
export async function guardTrial(
  { agent, session }: { readonly agent: ResolvedAgent; readonly session: string },
  place: Pick<TrialPlace, 'dir' | 'fixture' | 'home'>,
  agentEnv: Readonly<Record<string, string>>,
  onNotice: (message: string) => void,
): Promise<GuardedTrial> {
  const guardHome = join(place.dir, 'guard')
  makeDirectories(guardHome)
  writeJsonAtomic(join(guardHome, 'harness.json'), agent.arm?.guard ?? {})
  const added = {
    GANTRY_GUARD_HOME: guardHome,
    GANTRY_GUARD_RESIDENT: 'off',
    HARNESS_STATE_DIR: join(guardHome, 'harness'),
  }
  const env: Readonly<Record<string, string>> = { ...agentEnv, ...added }
  const root = place.fixture
  const { name } = agent.driver
  if (name === 'builtin' || name === 'scripted') {
    const toToolCall = name === 'builtin' ? builtinToolCall : scriptedToolCall
    const guard = openGuard({ rules, guardHome, env })
    return {
      env: added,
      hooks: guardHooks({ guard, agent: 'builtin', session, root, toToolCall, onNotice }),
      end: async () => {},
    }
  }
  const program = { node: process.execPath, hookBin: hookBinPath() }
  await buildCheckoutHook(program)
  const hookPlace = { root, home: env.HOME ?? place.home, env }
  const guard = guardForAgent(name, hookPlace, program, true)
  if (guard.kind !== 'temporary')
    throw new GantryError('USAGE', `agent '${agent.name}' cannot be guarded in a trial`, {
      hint:
        guard.kind === 'none'
          ? `${guard.why}.`
          : 'Its home has hooks of the guard already: use home: isolated.',
    })
  return { env: added, end: await installForRun({ ...guard, place: hookPlace, program, runDir: place.dir }) }
}
