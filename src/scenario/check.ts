import { join } from 'node:path'
import { agentSchema, createAgent } from '../agents/index.ts'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { expandValues } from '../core/expand.ts'
import { createRedaction } from '../core/redaction.ts'
import type { TrialRecord } from '../core/trial.ts'
import { gateNeeds } from '../gates/index.ts'
import { systemClock } from '../io/clock.ts'
import { makeDirectories } from '../io/directory.ts'
import { readShortText } from '../io/read-short-text.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import { tailLines } from '../report/plain-text.ts'
import type { Case } from './case.ts'
import { runTrial } from './trial.ts'
import { trialPlace } from './trial-work.ts'

/** Whether a scenario's gates distinguish work from no work. */
export type GraderCheck = Awaited<ReturnType<typeof checkGraders>>

export interface CheckPlace {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Patterns of the configuration. */
  readonly redact: readonly string[]
}

/** Checks the gates before money is spent: with an agent that does nothing, and with the scenario's oracle. */
export async function checkGraders(entry: Case, place: CheckPlace) {
  using scratch = temporaryDirectory('gantry-check-')
  const attempt = (name: string, command: string, withOracle: boolean): Promise<TrialRecord> =>
    tryCommand(entry, place, { name, command, withOracle, dir: join(scratch.path, name) })
  const noop = await attempt('no-op', 'true', false)
  const command = entry.scenario.oracle?.command
  const oracle = command === undefined ? null : await attempt('oracle', command, true)
  const problems = [...noopProblems(noop), ...(oracle === null ? [] : oracleProblems(oracle, entry))]
  return {
    case: entry.name,
    file: entry.shownFile,
    sound: problems.length === 0,
    /** The result of an agent that does nothing; it must not pass. */
    noop: findingOf(noop),
    /** The result of the scenario's own solution; it must pass. null when the scenario has none. */
    oracle: oracle === null ? null : findingOf(oracle),
    /** Messages for the author: what is wrong, and which gates prove nothing. */
    problems,
    remarks: [
      ...noopRemarks(noop, entry),
      ...(oracle === null
        ? ['has no oracle, so nothing proves that the gates can be passed']
        : oracleRemarks(oracle, entry)),
    ],
  }
}

/** A command in place of an agent. */
export function standIn(name: string, command: string, dir: string): ResolvedAgent {
  const config = agentSchema.parse({ driver: 'command', command: ['sh', '-c', command], prompt: 'stdin' })
  return {
    name,
    driver: createAgent(name, config, { base: dir }),
    probe: { found: true, version: null, authenticated: null, fingerprint: '' },
    env: {},
    inheritEnv: [],
    credentials: {},
    home: 'isolated',
    modelScript: null,
    meter: 'never',
  }
}

async function tryCommand(
  entry: Case,
  { env, signal, redact }: CheckPlace,
  attempt: Record<'name' | 'command' | 'dir', string> & { readonly withOracle: boolean },
): Promise<TrialRecord> {
  const { name, command, dir, withOracle } = attempt
  makeDirectories(dir)
  const agent = standIn(name, command, dir)
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

function oracleProblems(
  { verdict, reason, gates, ending, agentExitCode, dir }: TrialRecord,
  { ownGates }: Case,
): string[] {
  if (verdict === 'invalid' || verdict === 'infra') return [`the oracle cannot be run: ${reason}`]
  if (ending !== 'exited' || agentExitCode !== 0)
    return [
      `the oracle failed by itself (${ending === 'exited' ? `exit ${agentExitCode}` : ending})${output(dir)}`,
    ]
  return gates
    .filter((gate) => !gate.passed && !gateNeeds(gate.type, ownGates).includes('agent_events'))
    .map((gate) => `the oracle does not pass ${gate.type}: ${gate.message}`)
}

const maxOutputBytes = 4 * 1024 * 1024

/** The end of what the oracle printed, standard error included. */
function output(dir: string): string {
  const text = readShortText(trialPlace(dir).transcript, maxOutputBytes) ?? ''
  return tailLines(text, 10)
    .lines.map((line) => `\n    | ${line}`)
    .join('')
}

function noopRemarks({ gates, verdict }: TrialRecord, { ownGates }: Case): string[] {
  if (verdict !== 'fail') return []
  return gates
    .filter((gate) => gate.passed && !gateNeeds(gate.type, ownGates).includes('agent_events'))
    .map((gate) => `${gate.type} passes before any work: ${gate.message}`)
}

function oracleRemarks({ gates }: TrialRecord, { ownGates }: Case): string[] {
  return gates
    .filter((gate) => !gate.passed && gateNeeds(gate.type, ownGates).includes('agent_events'))
    .map((gate) => `${gate.type} checks how the agent works, which a script cannot prove`)
}

function findingOf({ verdict, reason, gates }: TrialRecord) {
  return { verdict, reason, gates }
}
