import { counted } from '../core/counted.ts'
import { type ActiveTask, type KeptVerification, throwIfStopped } from './active-task.ts'
import {
  milestones,
  type ScoutAnswer,
  type ScoutName,
  type ScoutOutcome,
  type ScoutQuery,
} from './contract.ts'
import { findConflicts } from './editor/find-conflicts.ts'
import { sampleConventions } from './editor/sample-conventions.ts'
import { firstStrategy } from './editor/strategy.ts'
import { takeSnapshot } from './take-snapshot.ts'
import { infra } from './task-halt.ts'

/** Asks both Scouts, one after the other, settles where they disagree, and derives the first strategy. */
export async function analyse(active: ActiveTask): Promise<void> {
  const { emit, task, known, request, states } = active
  states.move('ANALYZING', 'the task was started')
  emit({ kind: 'milestone', milestone: 'analyzing', text: milestones.analyzing })
  const inside = request.package === null ? '' : `\nThe task is confined to the package ${request.package}.`
  await askScoutA(active, {
    question: `Which files matter for this task, where are the entry points and risk zones, what is the smallest safe slice, and which conventions hold?\n\nTask: ${task.objective}${inside}`,
  })
  await askScoutB(active, {
    question: `How is this repository built and tested, what does it need, and what in the environment may stand in the way of this task?\n\nTask: ${task.objective}${inside}`,
  })
  await settleConflicts(active)
  known.strategies.push(firstStrategy(task, known.scoutA?.report ?? null, active.stuck))
  emit({ kind: 'milestone', milestone: 'analyzed', text: milestones.analyzed })
  if (!request.dryRun) await takeSnapshot(active, 'task_start')
}

/** Asks Scout B why a verification failed. The most telling line of the log comes first. */
export async function diagnose(active: ActiveTask, { log, failure }: KeptVerification): Promise<void> {
  const { known, emit } = active
  await askScoutB(active, {
    question: `Why did verification ${known.attempts.length} fail, and where is the cause?`,
    failureLog: failure === null ? log : `${failure}\n\n${log}`,
  })
  const { diagnosis } = known
  if (diagnosis === null || diagnosis === undefined) return
  emit({
    kind: 'diagnosis',
    attempt: known.attempts.length,
    text: [diagnosis.root_cause, ...diagnosis.suggested_investigation].join('\n'),
  })
}

/** Decides what the last answers disagree about, each question once, and samples the conventions of the files that matter. */
export async function settleConflicts(active: ActiveTask): Promise<void> {
  const { known, emit, tree, baseline } = active
  const { scoutA, scoutB } = known
  if (scoutA !== null && scoutB !== null)
    for (const decision of findConflicts(scoutA.report, scoutB.report)) {
      if (known.decisions.some(({ question }) => question === decision.question)) continue
      known.decisions.push(decision)
      emit({ kind: 'conflict', ...decision })
    }
  const focus = scoutA?.report.repo_map.relevant_files.map(({ path }) => path) ?? []
  const files = [...(await tree.entries(baseline.tree)).keys()]
  known.conventions = sampleConventions(tree.root, files, focus)
}

/** An answer that an earlier process paid for is not asked for again. */
export async function askScoutA(active: ActiveTask, query: ScoutQuery): Promise<void> {
  const { scouts } = active.tools
  active.known.scoutA = await ask(active, 'scout_a', (signal) => scouts.askA(query, signal))
}

export async function askScoutB(active: ActiveTask, query: ScoutQuery): Promise<void> {
  const { scouts } = active.tools
  const answer = await ask(active, 'scout_b', (signal) => scouts.askB(query, signal))
  active.known.scoutB = answer
  active.known.diagnosis = answer.report.failure_analysis ?? active.known.diagnosis
}

const names: Readonly<Record<ScoutName, string>> = { scout_a: 'Scout A', scout_b: 'Scout B' }

async function ask<Report>(
  active: ActiveTask,
  scout: ScoutName,
  send: (signal: AbortSignal) => Promise<ScoutOutcome<Report>>,
): Promise<ScoutAnswer<Report>> {
  const { journal, emit, feed, known, spending, context, signal } = active
  const number = known.next[scout]
  known.next[scout] += 1
  emit({ kind: 'milestone', milestone: scout, text: milestones[scout] })
  const step = await journal.step(`${scout.replace('_', '-')}-${number}`, async () => {
    throwIfStopped(active)
    spending.check()
    // The events are kept together with the answer, so a crash in between loses both or neither.
    const { result: outcome, told } = await feed.hold(() => send(signal))
    if (outcome.kind !== 'answer') for (const each of told) emit(each)
    if (outcome.kind === 'cancelled') {
      throwIfStopped(active)
      throw infra(
        names[scout],
        'the question was cancelled although the task was not',
        'Start the task again.',
      )
    }
    if (outcome.kind === 'failed') {
      throwIfStopped(active)
      spending.check()
      throw infra(
        names[scout],
        `${outcome.message} (${counted(outcome.tries, 'try', 'tries')})`,
        'Check that the model can be reached: its key, its address and its limits. Then retry the task.',
      )
    }
    spending.add(outcome.answer.costUsd)
    return { answer: context.redaction.value(outcome.answer) as ScoutAnswer<Report>, told }
  })
  for (const each of step.told) emit(each)
  known.corrections.push(...step.answer.corrections)
  return step.answer
}
