import { join } from 'node:path'
import type { AgentRequest, AskOptions } from '../../agents/contract.ts'
import { monotonicMs, systemClock } from '../../io/clock.ts'
import { namesIn } from '../../io/directory.ts'
import { exec } from '../../io/exec.ts'
import { removeTree } from '../../io/files.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { isRealDirectory } from '../../io/list-directory.ts'
import type { EventRecorder } from '../../store/event-recorder.ts'
import type { AttemptContext } from '../../trials/contract.ts'
import { makeRoom } from '../../trials/put-aside.ts'
import { keptFiles } from '../cases/grade/kept-files.ts'
import type { PluginScenario, SetupMessage } from '../generate/contract.ts'
import { attemptWithoutPrompt, type PluginAttempt, terminationOf } from './attempt.ts'
import { type AttemptLog, openAttemptLog } from './attempt-log.ts'
import { historyMessages } from './history-messages.ts'
import type { LiveClaude } from './live-claude.ts'
import { type GroupedTrial, pathSegment } from './plan-trials.ts'
import type { ExecuteRequest } from './request.ts'

export interface AttemptOptions {
  readonly request: ExecuteRequest
  readonly live: LiveClaude
  readonly openRecorder: () => EventRecorder
  /** null = no limit. */
  readonly maxCostUsd: number | null
  readonly raise: AttemptContext['raise']
}

/** Runs one scenario in a live process: a fresh workspace and conversation, the prompt, and its result. */
export async function makeAttempt(
  { trial, scenario }: GroupedTrial,
  options: AttemptOptions,
): Promise<PluginAttempt> {
  const { request, live, maxCostUsd, raise } = options
  const startedAtMs = systemClock.now().getTime()
  const begun = await beginScenario(scenario, options)
  if (typeof begun === 'string') return attemptWithoutPrompt({ failure: null, invalid: begun }, startedAtMs)
  let log: AttemptLog | null = null
  const part = live.modelLink?.begin({
    cassette: join(request.cassettes, pathSegment(trial.scenario_id), `${trial.arm}-${trial.rep}`),
    facts: factsOf(options, scenario, trial.arm),
    emit: (event) => log?.take(event, systemClock.now().getTime()),
    ...(maxCostUsd !== null && { maxCostUsd, raiseCostLimit: raise }),
  })
  if (part?.kind === 'unusable') {
    const needsRecording = request.modelLink?.model.replay === 'strict'
    return attemptWithoutPrompt({ failure: null, invalid: part.problem, needsRecording }, startedAtMs)
  }
  log = openAttemptLog({
    recorder: options.openRecorder(),
    spawned: live.spawned,
    prices: request.prices,
    isOverLimit: (costUsd) => maxCostUsd !== null && costUsd > (raise(costUsd) ?? Number.POSITIVE_INFINITY),
    onOver: () => live.stop('over_budget'),
  })
  try {
    return await ask(scenario, begun, log, options, startedAtMs)
  } catch (error) {
    makeRoom(error, [live.workspace.dir])
    throw error
  } finally {
    live.listen(null)
    log.close()
    log = null
  }
}

/** The setup messages of the scenario, or the reason why the case is broken. */
async function beginScenario(
  scenario: PluginScenario,
  { request, live }: AttemptOptions,
): Promise<readonly SetupMessage[] | string> {
  const { workspace, place } = live
  const history =
    scenario.case?.history_file === undefined ? null : historyMessages(scenario.case.history_file)
  if (history?.kind === 'unusable') return history.problem
  const strays = await workspace.putBack()
  if (live.ownHome !== null) forgetMemories(live.ownHome)
  const problem =
    (await runScaffold(scenario, {
      workspace: workspace.dir,
      // Scripts must not see the agent's keys.
      env: { ...hermeticEnv({ host: request.env, home: place.home, tmp: place.tmp }), ...scenario.case?.env },
      timeoutMs: timeLimit(scenario, request),
      signal: request.signal,
      isAllowed: request.allowScaffold,
    })) ?? workspace.write(scenario.files ?? {})
  if (problem !== null) return problem
  // The workspace must be ready before the conversation starts, because its start hooks may read it.
  const isFilled = scenario.files !== undefined || scenario.case?.scaffold_script !== undefined
  if (!live.isTurned() || strays.length > 0 || isFilled) await live.turn()
  workspace.mark()
  return [...(history?.messages ?? []), ...(scenario.setup_messages ?? [])]
}

async function ask(
  scenario: PluginScenario,
  before: readonly SetupMessage[],
  log: AttemptLog,
  options: AttemptOptions,
  startedAtMs: number,
): Promise<PluginAttempt> {
  const { request, live } = options
  const { session, modelLink, captureRouter, workspace } = live
  if (before.length > 0) await session.recall?.(before)
  for (const message of before) log.say(message, startedAtMs)
  log.say({ role: 'user', content: scenario.user_prompt }, startedAtMs)
  const started = monotonicMs()
  live.listen(log)
  const ran = await live.ask(scenario.user_prompt, askOptions(scenario, request))
  const durationMs = Math.round(monotonicMs() - started)
  const isAlive = session.isAlive?.() !== false
  const ended = await modelLink?.end(ran)
  const outcome = ended?.outcome ?? ran
  const kept = workspace.isLost() ? undefined : keptFiles(scenario, workspace.dir)
  const { changes, warnings } = await inspectWorkspace(live, request)
  // Session-end events still belong to this scenario.
  if (live.isUsable()) await live.turn()
  log.complete(outcome, durationMs)
  const captures = captureRouter.captures()
  return {
    outcome,
    captures,
    events: log.events(),
    errors: log.errors(),
    turns: outcome.turns ?? log.turns(),
    usage: log.usage(),
    changes,
    ...(kept !== undefined && { keptFiles: kept }),
    termination: terminationOf(outcome, { stopSeen: captures.stopSeen, isAlive }),
    durationMs,
    startedAtMs,
    needsRecording: ended?.needsRecording ?? false,
    retryAfterMs: ended?.retryAfterMs ?? null,
    warnings: [...(outcome.warnings ?? []), ...warnings, ...(workspace.isLost() ? [lost] : [])],
  }
}

const lost = 'the agent removed its workspace; its changes are unknown'

/** With `rewind_file_changes` the agent's own rewind runs first. Anything it leaves is restored in any case. */
async function inspectWorkspace(
  { workspace, session, isUsable }: LiveClaude,
  { config }: ExecuteRequest,
): Promise<Pick<PluginAttempt, 'changes' | 'warnings'>> {
  if (workspace.isLost()) return { changes: [], warnings: [] }
  const changes = workspace.changes()
  if (!config.rewind_file_changes || changes.length === 0 || !isUsable()) return { changes, warnings: [] }
  const rewound = (await session.rewind?.()) ?? { kind: 'refused', why: 'it cannot' }
  const left = workspace.changes().map(({ path }) => path)
  const refused = rewound.kind === 'refused' ? [`the agent did not restore its changes: ${rewound.why}`] : []
  const rest = left.length === 0 ? [] : [`restored after the agent's own rewind: ${left.join(', ')}`]
  return { changes, warnings: [...refused, ...rest] }
}

function askOptions(scenario: PluginScenario, request: ExecuteRequest): AskOptions {
  const { execution } = request.config
  return {
    timeoutMs: timeLimit(scenario, request),
    maxTurns: scenario.case?.max_turns ?? execution.max_turns,
    ...(execution.timeout_strategy === 'interrupt_first' && {
      interruptGraceMs: execution.interrupt_grace_ms,
    }),
  }
}

function timeLimit({ case: facts }: PluginScenario, { config }: Pick<ExecuteRequest, 'config'>): number {
  return facts?.timeout_ms ?? config.execution.timeout_ms
}

/** Names the agent in the cassette, for readers. */
function factsOf(
  { request, live }: AttemptOptions,
  { id }: PluginScenario,
  arm: string,
): Record<string, string> {
  return {
    plugin: request.plugin.plugin_name,
    scenario: id,
    arm,
    agent: request.agent.name,
    version: live.loaded?.version ?? 'unknown',
    model: request.config.execution.model,
  }
}

/**
 * Claude Code may keep notes for later conversations in its HOME, and `/clear` does not delete them, so one scenario would see
 * the notes of another. Never follows a link, because the agent may have created it.
 */
export function forgetMemories(home: string): void {
  const settings = join(home, '.claude')
  const projects = join(settings, 'projects')
  if (!isRealDirectory(settings) || !isRealDirectory(projects)) return
  for (const name of namesIn(projects)) {
    const memory = join(projects, name, 'memory')
    if (!isRealDirectory(join(projects, name)) || !isRealDirectory(memory)) continue
    for (const note of namesIn(memory)) removeTree(join(memory, note))
  }
}

interface ScaffoldPlace extends Pick<AgentRequest, 'workspace' | 'env' | 'timeoutMs' | 'signal'> {
  readonly isAllowed: boolean
}

/** Runs the script that fills the workspace of a case. Returns null, or the reason why the case is broken. */
async function runScaffold(scenario: PluginScenario, place: ScaffoldPlace): Promise<string | null> {
  const script = scenario.case?.scaffold_script
  if (script === undefined) return null
  if (!place.isAllowed)
    return `the case needs its scaffold script ${script}, but programs of the plugin's author are not allowed to run`
  const result = await exec({
    argv: ['bash', script],
    cwd: place.workspace,
    env: place.env,
    timeoutMs: place.timeoutMs,
    signal: place.signal,
    maxOutputBytes: 64 * 1024,
  })
  if (result.ending === 'exited' && result.exitCode === 0) return null
  const how = result.ending === 'exited' ? `exit ${result.exitCode}` : result.ending.replaceAll('_', ' ')
  const said = result.stderr.text.trim().slice(-300)
  return `the scaffold script ${script} failed (${how})${said === '' ? '' : `: ${said}`}`
}
