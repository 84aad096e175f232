import { join } from 'node:path'
import type { AskOptions } from '../../agents/contract.ts'
import { systemClock } from '../../io/clock.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import type { EventRecorder } from '../../store/event-recorder.ts'
import { keptFiles } from '../cases/grade/kept-files.ts'
import type { PluginScenario, SetupMessage } from '../generate/contract.ts'
import { type Attempt, unasked } from './attempt.ts'
import { type AttemptLog, openAttemptLog } from './attempt-log.ts'
import { forgetMemories } from './forget-memories.ts'
import { historyMessages } from './history-messages.ts'
import type { LiveAgent } from './live-agent.ts'
import { type GroupedTrial, pathSegment } from './plan-trials.ts'
import type { ExecuteRequest } from './request.ts'
import { runScaffold } from './run-scaffold.ts'
import { terminationOf } from './termination.ts'

export interface AttemptPowers {
  readonly request: ExecuteRequest
  readonly live: LiveAgent
  readonly openRecorder: () => EventRecorder
  readonly maxCostUsd: number | undefined
}

/** One scenario put to a live process: a fresh workspace and conversation, the prompt, and what came of it. */
export async function makeAttempt(
  { trial, scenario }: GroupedTrial,
  powers: AttemptPowers,
): Promise<Attempt> {
  const { request, live } = powers
  const startedAtMs = systemClock.now().getTime()
  const begun = await beginScenario(scenario, powers)
  if (typeof begun === 'string') return unasked({ failure: null, invalid: begun }, startedAtMs)
  const part = live.modelLink?.begin({
    cassette: join(request.cassettes, pathSegment(trial.scenario_id), `${trial.arm}-${trial.rep}`),
    facts: factsOf(powers, scenario, trial.arm),
    ...(powers.maxCostUsd !== undefined && { maxCostUsd: powers.maxCostUsd }),
  })
  if (part?.kind === 'unusable') {
    const needsRecording = request.modelLink?.model.replay === 'strict'
    return unasked({ failure: null, invalid: part.problem, needsRecording }, startedAtMs)
  }
  const log = openAttemptLog({
    recorder: powers.openRecorder(),
    spawned: live.spawned,
    prices: request.prices,
    maxCostUsd: powers.maxCostUsd,
    onOver: () => live.stop('over_budget'),
  })
  try {
    return await ask(scenario, begun, log, powers, startedAtMs)
  } finally {
    live.listen(null)
    log.close()
  }
}

/** Answers with what was said before the scenario, or with why the case is broken. */
async function beginScenario(
  scenario: PluginScenario,
  { request, live }: AttemptPowers,
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
      // The agent's keys are none of a script's business.
      env: {
        ...hermeticEnv({ host: request.env, home: place.home, tmp: place.tmp }),
        ...scenario.case?.env,
      },
      timeoutMs: timeLimit(scenario, request),
      signal: request.signal,
      isAllowed: request.allowScaffold,
    })) ?? workspace.write(scenario.files ?? {})
  if (problem !== null) return problem
  // The conversation begins when its workspace is as it should be: hooks at its start look at it.
  const isFilled = scenario.files !== undefined || scenario.case?.scaffold_script !== undefined
  if (!live.isTurned() || strays.length > 0 || isFilled) await live.turn()
  workspace.mark()
  return [...(history?.messages ?? []), ...(scenario.setup_messages ?? [])]
}

async function ask(
  scenario: PluginScenario,
  before: readonly SetupMessage[],
  log: AttemptLog,
  powers: AttemptPowers,
  startedAtMs: number,
): Promise<Attempt> {
  const { request, live } = powers
  const { session, modelLink, desk, workspace } = live
  if (before.length > 0) await session.recall?.(before)
  for (const message of before) log.say(message, startedAtMs)
  log.say({ role: 'user', content: scenario.user_prompt }, startedAtMs)
  const started = performance.now()
  live.listen(log)
  const ran = await live.ask(scenario.user_prompt, askOptions(scenario, request))
  const durationMs = Math.round(performance.now() - started)
  const isAlive = session.isAlive?.() !== false
  const emit = (event: Parameters<AttemptLog['take']>[0]) => log.take(event, systemClock.now().getTime())
  const ended = await modelLink?.end(ran, emit)
  const outcome = ended?.outcome ?? ran
  const kept = workspace.isLost() ? undefined : keptFiles(scenario, workspace.dir)
  const { changes, warnings } = await lookAtWorkspace(live, request)
  // What ends with the conversation still belongs to it.
  if (live.isUsable()) await live.turn()
  log.complete(outcome, durationMs)
  const captures = desk.captures()
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

const lost = 'the agent removed its workspace; what it changed there is not known'

/** With `rewind_file_changes` the agent's own rewind comes first; what it leaves is put back in any case. */
async function lookAtWorkspace(
  { workspace, session, isUsable }: LiveAgent,
  { config }: ExecuteRequest,
): Promise<Pick<Attempt, 'changes' | 'warnings'>> {
  if (workspace.isLost()) return { changes: [], warnings: [] }
  const changes = workspace.changes()
  if (!config.rewind_file_changes || changes.length === 0 || !isUsable()) return { changes, warnings: [] }
  const rewound = (await session.rewind?.()) ?? { kind: 'refused', why: 'it cannot' }
  const left = workspace.changes().map(({ path }) => path)
  const refused = rewound.kind === 'refused' ? [`the agent did not put its changes back: ${rewound.why}`] : []
  const rest = left.length === 0 ? [] : [`put back after the agent's own rewind: ${left.join(', ')}`]
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

/** Who was recorded, for a reader of the cassette. */
function factsOf(
  { request, live }: AttemptPowers,
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
