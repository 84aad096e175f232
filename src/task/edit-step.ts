import { join } from 'node:path'
import type { AgentOutcome } from '../agents/contract.ts'
import { weakenings } from '../guard-engine/tests/weakenings.ts'
import { readJsonIfExists } from '../io/files.ts'
import { writePrivateAtomic } from '../io/private-store.ts'
import { editorPrompt } from './editor/editor-prompt.ts'
import { type GuardedFiles, keepGuarded, putGuardedBack } from './editor/guarded-files.ts'
import type { Situation } from './editor/prompt-facts.ts'
import { type PutBack, putBackForbidden } from './editor/put-back-forbidden.ts'
import { testsNow } from './editor/tests-now.ts'
import { placesOf } from './open-task.ts'
import { infra, TaskHalt } from './task-halt.ts'
import { currentStrategy, goOn, type TaskInHand } from './task-in-hand.ts'

/** One turn of the Editor, kept. */
export interface KeptEdit {
  /** State of the tree afterwards. */
  readonly tree: string
  /** Changed by this turn. */
  readonly files: readonly string[]
  readonly account: string
  readonly ending: AgentOutcome['ending']
  readonly costUsd: number | null
  readonly durationMs: number
  readonly putBack: readonly PutBack[]
  readonly weaker: readonly string[]
  readonly warnings: readonly string[]
}

const maxDiffBytes = 200_000

/** The Editor at work, and afterwards everything as it was where it must not write. */
export async function editStep(hand: TaskInHand, situation: Situation): Promise<KeptEdit> {
  const { journal, known, emit, tree, baseline, request } = hand
  const number = known.next.edit
  known.next.edit += 1
  const kept = await journal.step(`edit-${number}`, () => edit(hand, number, situation))
  emit({
    kind: 'edit',
    agent: request.agent,
    duration_ms: kept.durationMs,
    files: kept.files,
    cost_usd: kept.costUsd,
    ending: kept.ending,
  })
  for (const { path, why, isLeft } of kept.putBack)
    warn(hand, `The Editor changed ${path}, which ${isLeft ? 'could not be' : 'was'} put back: ${why}.`)
  for (const text of [
    ...kept.weaker.map((each) => `Tests are weaker than before: ${each}.`),
    ...kept.warnings,
  ])
    warn(hand, text)
  known.weaker = kept.weaker
  if (kept.account !== '') known.account = kept.account
  const files = await tree.changes(baseline.tree, kept.tree)
  emit({ kind: 'diff', text: await tree.diff(baseline.tree, kept.tree, maxDiffBytes), files })
  return kept
}

async function edit(hand: TaskInHand, number: number, situation: Situation): Promise<KeptEdit> {
  const { journal, tree, writeLimits, work, spending, powers, signal, baseline, run, request } = hand
  goOn(hand)
  spending.check()
  const begun = journal.kept<string>(`edit-${number}-begun`)
  const before = begun ?? (await tree.take())
  const guarded = guardedBefore(hand, number, begun !== undefined)
  if (begun === undefined) journal.keep(`edit-${number}-begun`, before)
  const prompt = promptFor(hand, situation, begun !== undefined)
  const startedMs = performance.now()
  const left = spending.budget.remainingUsd()
  const outcome = await work.edit({ prompt, number, signal, ...(left !== null && { maxCostUsd: left }) })
  const durationMs = Math.round(performance.now() - startedMs)
  spending.charge(outcome.costUsd)
  spending.add(outcome.costUsd)
  const ofGit = putGuardedBack(tree.root, guarded, 'git')
  const forbidden = await putBackForbidden(tree, writeLimits, before, (patch) =>
    writePrivateAtomic(run.reportPath(`put-back-${number}.patch`), patch),
  )
  const told = [...ofGit, ...forbidden]
  const rest = putGuardedBack(tree.root, guarded).filter(
    ({ path }) => !told.some((each) => each.path === path),
  )
  const putBack = [...told, ...rest]
  refuseBroken(hand, outcome)
  const after = await tree.take()
  return {
    tree: after,
    files: await tree.changes(before, after),
    account: powers.redaction.text(outcome.finalText ?? ''),
    ending: outcome.ending,
    costUsd: outcome.costUsd,
    durationMs,
    putBack,
    weaker: weakenings(baseline.tests, await testsNow(tree.root, request.steps)).slice(0, 20),
    warnings: outcome.warnings ?? [],
  }
}

/** As they were when the turn began, also when that was in a process that died since. They may hold secrets, and go with the states. */
function guardedBefore({ tree, run }: TaskInHand, number: number, isContinued: boolean): GuardedFiles {
  const path = join(placesOf(run).shadow, `guarded-${number}.json`)
  const kept = isContinued ? (readJsonIfExists(path) as GuardedFiles | undefined) : undefined
  if (kept !== undefined) return kept
  const guarded = keepGuarded(tree.root)
  writePrivateAtomic(path, JSON.stringify(guarded))
  return guarded
}

/** What did not really happen ends the task; an agent that crashed or ran out of time left work that is verified. */
function refuseBroken(hand: TaskInHand, { ending, failure, invalid }: AgentOutcome): void {
  goOn(hand)
  if (ending === 'over_budget') {
    const reason = 'the budget (--max-cost-usd) was spent in the middle of an edit'
    throw new TaskHalt({ kind: 'stuck', reason })
  }
  const advice = 'Check the agent with gantry agents, and that its model can be reached. Then retry the task.'
  if (invalid !== undefined) throw infra('Editor', invalid, advice)
  if (failure !== null) throw infra('Editor', `${failure.reason}: ${failure.message}`, advice)
}

function promptFor(hand: TaskInHand, situation: Situation, isContinued: boolean): string {
  const { task, known, request, stuck } = hand
  return editorPrompt({
    task,
    strategy: currentStrategy(hand),
    scoutA: known.scoutA?.report ?? null,
    scoutB: known.scoutB?.report ?? null,
    decisions: known.decisions,
    conventions: known.conventions,
    package: request.package,
    steps: request.steps,
    stuck,
    situation,
    weaker: known.weaker,
    isContinued,
  })
}

function warn({ emit, known }: TaskInHand, message: string): void {
  if (!known.notes.includes(message)) known.notes.push(message)
  emit({ kind: 'note', level: 'warning', message })
}
