import { join } from 'node:path'
import { agentSchema, createAgent } from '../agents/index.ts'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { createRedaction } from '../core/redaction.ts'
import type { GateResult, TrialRecord } from '../core/trial.ts'
import { gateNeeds } from '../gates/index.ts'
import { systemClock } from '../io/clock.ts'
import { makeDirectories } from '../io/directory.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import type { Case } from './case.ts'
import { runTrial } from './trial.ts'
import { expandValues } from './trial-key.ts'

/** Whether a scenario's gates can tell work from no work. */
export interface GraderCheck {
  readonly case: string
  readonly file: string
  readonly sound: boolean
  /** What an agent that does nothing gets; it must not pass. */
  readonly noop: GraderFinding
  /** What the scenario's own solution gets; it must pass. null when the scenario ships none. */
  readonly oracle: GraderFinding | null
  /** Sentences for the author: what is wrong, and which gates prove nothing by themselves. */
  readonly problems: readonly string[]
  readonly remarks: readonly string[]
}

export interface GraderFinding {
  readonly verdict: TrialRecord['verdict']
  readonly reason: string
  readonly gates: readonly GateResult[]
}

export interface CheckPlace {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Patterns of the configuration. */
  readonly redact: readonly string[]
}

/** Proves the grader before money is spent: once with an agent that does nothing, once with the scenario's oracle. */
export async function checkGraders(entry: Case, place: CheckPlace): Promise<GraderCheck> {
  using scratch = temporaryDirectory('gantry-check-')
  const attempt = (name: string, command: string, withOracle: boolean): Promise<TrialRecord> =>
    tryCommand(entry, { ...place, name, command, withOracle, dir: join(scratch.path, name) })
  const noop = await attempt('no-op', 'true', false)
  const command = entry.scenario.oracle?.command
  const oracle = command === undefined ? null : await attempt('oracle', command, true)
  const problems = [...noopProblems(noop), ...(oracle === null ? [] : oracleProblems(oracle))]
  return {
    case: entry.name,
    file: entry.shownFile,
    sound: problems.length === 0,
    noop: findingOf(noop),
    oracle: oracle === null ? null : findingOf(oracle),
    problems,
    remarks: [
      ...noopRemarks(noop),
      ...(oracle === null
        ? ['ships no oracle: nothing proves that the gates can be passed']
        : oracleRemarks(oracle)),
    ],
  }
}

async function tryCommand(
  entry: Case,
  {
    name,
    command,
    withOracle,
    dir,
    env,
    signal,
    redact,
  }: CheckPlace & {
    readonly name: string
    readonly command: string
    readonly withOracle: boolean
    readonly dir: string
  },
): Promise<TrialRecord> {
  makeDirectories(dir)
  const driver = createAgent(
    name,
    agentSchema.parse({ driver: 'command', command: ['sh', '-c', command], prompt: 'stdin' }),
    { base: dir },
  )
  const agent: ResolvedAgent = {
    name,
    driver,
    probe: { found: true, version: null, authenticated: null, fingerprint: '' },
    env: {},
    inheritEnv: [],
    credentials: {},
    home: 'isolated',
    modelScript: null,
    meter: 'never',
  }
  return runTrial({
    planned: { id: name, case: entry.name, agent: name, model: 'default', attempt: 1 },
    case: entry,
    agent,
    dir,
    limits: { timeoutMs: (entry.scenario.oracle?.timeout_secs ?? 30) * 1000 },
    judge: null,
    prices: {},
    redaction: createRedaction(redact, env, expandValues(entry.target.env, env)),
    env,
    modelLink: null,
    checkpoints: { read: () => undefined, write: () => {} },
    withOracle,
    cacheKey: null,
    infraRetries: 0,
    clock: systemClock,
    signal,
  })
}

function noopProblems({ verdict, reason }: TrialRecord): string[] {
  if (verdict === 'fail') return []
  if (verdict === 'pass') return ['an agent that does nothing passes every gate']
  return [`the case cannot be run: ${reason}`]
}

function oracleProblems({ verdict, reason, gates, ending, agentExitCode }: TrialRecord): string[] {
  if (verdict === 'invalid' || verdict === 'infra') return [`the oracle cannot be run: ${reason}`]
  if (ending !== 'exited' || agentExitCode !== 0)
    return [`the oracle failed by itself (${ending === 'exited' ? `exit ${agentExitCode}` : ending})`]
  return gates
    .filter((gate) => !gate.passed && !gateNeeds(gate.type).includes('agent_events'))
    .map((gate) => `the oracle does not pass ${gate.type}: ${gate.message}`)
}

function noopRemarks({ gates, verdict }: TrialRecord): string[] {
  if (verdict !== 'fail') return []
  return gates
    .filter((gate) => gate.passed && !gateNeeds(gate.type).includes('agent_events'))
    .map((gate) => `${gate.type} passes before any work: ${gate.message}`)
}

function oracleRemarks({ gates }: TrialRecord): string[] {
  return gates
    .filter((gate) => !gate.passed && gateNeeds(gate.type).includes('agent_events'))
    .map((gate) => `${gate.type} looks at the agent's way and cannot be proven by a script`)
}

function findingOf({ verdict, reason, gates }: TrialRecord): GraderFinding {
  return { verdict, reason, gates }
}
