import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AgentOutcome } from '../agents/contract.ts'
import { asObject } from '../core/json-fields.ts'
import { shorten } from '../core/shorten.ts'
import { readJsonIfExists } from '../io/files.ts'
import { writePrivateFileAtomic } from '../io/private-files.ts'
import { type ActiveTask, currentStrategy, type KeptVerification, throwIfStopped } from './active-task.ts'
import { askForEditor } from './analyse.ts'
import { loopLimits, milestones } from './contract.ts'
import { editorPrompt } from './editor/editor-prompt.ts'
import { ofCache, putOthersBack, type SavedFiles, saveOthers } from './editor/other-files.ts'
import type { Situation } from './editor/prompt-data.ts'
import {
  type GuardedFiles,
  keepGuarded,
  type PutBack,
  putBackForbidden,
  putGuardedBack,
} from './editor/put-back.ts'
import { refusedMark } from './editor/refused-since.ts'
import { missingTests, testInventory } from './editor/test-inventory.ts'
import { weakerChecks } from './find-weakenings.ts'
import { placesOf } from './open-workspace.ts'
import { infra, TaskHalt } from './task-halt.ts'

/** How often a tree that failed before is refused and the Editor asked again. */
const repeatsRefused = 2
const maxDiffBytes = 200_000

/**
 * Runs the Editor until the tree differs from every tree that failed. After `repeatsRefused` refusals the tree is verified anyway, so
 * the loop ends; a tree that was never changed ends the task. The first change must also add tests.
 */
export async function implement(active: ActiveTask, situation: Situation): Promise<void> {
  const { emit } = active
  emit({ kind: 'milestone', milestone: 'implementing', text: milestones.implementing })
  let turn = await editAndAsk(active, situation)
  for (let refused = 0; ; refused += 1) {
    const repeated = repeatedTree(active, turn)
    if (repeated === null) break
    if (refused === repeatsRefused && repeated.attempt === null) throw unchanged(active)
    if (refused === repeatsRefused) {
      warn(
        active,
        `The Editor repeated a failed tree after ${repeatsRefused} refusals. It is verified anyway.`,
      )
      break
    }
    const of = repeated.attempt
    const which =
      of === null ? 'the tree is unchanged' : `the tree is the same as in verification ${of}, which failed`
    emit({
      kind: 'note',
      level: 'warning',
      message: `Not verified: ${which} (${refused + 1} of ${repeatsRefused}).`,
    })
    turn = await editTurn(active, { kind: 'repeated', of, before: situation })
  }
  if (situation.kind === 'first') await demandTests(active)
  announceChange(active)
}

/** How often the Editor may ask in a row. */
const questionsInRow = 2

/** A turn of the Editor, and after each question another one with the answer. */
async function editAndAsk(active: ActiveTask, situation: Situation): Promise<KeptEdit> {
  let turn = await editTurn(active, situation)
  for (let asked = 0; asked < questionsInRow; asked += 1) {
    const next = (await answerOfScouts(active, turn, situation)) ?? (await answerOfUser(active, turn))
    if (next === null) break
    turn = await editTurn(active, next)
  }
  return turn
}

async function answerOfScouts(
  active: ActiveTask,
  { account }: KeptEdit,
  before: Situation,
): Promise<Situation | null> {
  const found = [...account.matchAll(/^[ \t]*SCOUT ([AB]): *(\S.*)$/gm)]
  const questions = new Map(found.map(([, scout, question = '']) => [scout, question]))
  if (questions.size === 0) return null
  const asked = [...questions].map(([scout, question]) => ({
    scout: scout === 'A' ? ('scout_a' as const) : ('scout_b' as const),
    question,
  }))
  return { kind: 'scouted', answers: await askForEditor(active, asked), before }
}

/** Waits for a message, or for the end of its time. */
async function answerOfUser(active: ActiveTask, { account }: KeptEdit): Promise<Situation | null> {
  const question = /^[ \t]*QUESTION: *(\S.*)$/m.exec(account)?.[1]
  const { answerTimeoutMs = 0 } = active.request
  if (question === undefined || answerTimeoutMs === 0) return null
  const isAnswered = await active.journal.step(`answer-${active.known.next.edit}`, async () => {
    active.emit({ kind: 'question', text: question, timeout_ms: answerTimeoutMs })
    const end = performance.now() + answerTimeoutMs
    while (!hasUnheard(active) && performance.now() < end) {
      throwIfStopped(active)
      await sleep(Math.min(500, answerTimeoutMs))
    }
    return hasUnheard(active)
  })
  if (!isAnswered)
    active.emit({ kind: 'note', level: 'warning', message: 'No answer in time. The Editor decides alone.' })
  return { kind: 'told', question, isAnswered }
}

/** Whether the user has sent a message since the last prompt. */
export function hasUnheard({ context, known }: ActiveTask): boolean {
  return (context.messages?.() ?? []).length > known.heard
}

/** One turn for a message that came when the steps had passed. */
export async function hear(active: ActiveTask): Promise<void> {
  await editTurn(active, { kind: 'told', isAnswered: true })
  announceChange(active)
}

/** One turn to bring the tree into the state in which the steps have tested it. */
export async function adopt(active: ActiveTask, files: readonly string[]): Promise<void> {
  await editTurn(active, { kind: 'rewritten', files })
  announceChange(active)
}

/** Ends a task whose tree is as it was when it began. */
export function unchanged({
  known,
}: {
  readonly known: Pick<ActiveTask['known'], 'account' | 'notes'>
}): TaskHalt {
  const said =
    known.account === '' ? '' : `. The Editor says: ${shorten(known.account.replaceAll(/\s+/g, ' '), 300)}`
  const lost = known.notes.filter(
    (note) => note.startsWith(refusedMark) || (note.startsWith(changedMark) && !note.includes(ofCache)),
  )
  const most = lost.length > 1 ? ` (and ${lost.length - 1} more)` : ''
  const why = lost.length === 0 ? '' : `; ${lost[0]?.replace(/\.$/, '')}${most}`
  return new TaskHalt({ kind: 'unchanged', reason: `no file was changed${why}${said}` })
}

const changedMark = 'The Editor changed '

export function announceChange({ emit, known }: ActiveTask): void {
  emit({
    kind: 'milestone',
    milestone: 'implemented',
    text: milestones.implemented,
    attempt: known.attempts.length + 1,
    max_attempts: loopLimits.hardStopAt,
  })
}

/** What the Editor's prompt says about the verification that failed. */
export function afterFailure(
  { known }: ActiveTask,
  kind: 'fix' | 'replan',
  { log }: KeptVerification,
): Situation {
  return {
    kind,
    attempts: [...known.attempts],
    log,
    diagnosis: known.diagnosis,
    earlier: known.strategies.slice(0, -1),
  }
}

function repeatedTree({ known, baseline }: ActiveTask, { tree }: KeptEdit) {
  const failed = known.attempts.findLast((attempt) => attempt.tree === tree)
  if (failed !== undefined) return { attempt: failed.attempt }
  return known.attempts.length === 0 && tree === baseline.tree ? { attempt: null } : null
}

/** Runs one more turn when behaviour changed and no test did. Tests still missing after that are only reported. */
async function demandTests(active: ActiveTask): Promise<void> {
  const missing = await untestedFiles(active)
  if (missing.length === 0) return
  await editTurn(active, { kind: 'untested', files: missing })
  const still = await untestedFiles(active)
  if (still.length === 0) return
  warn(
    active,
    `No test was added or changed for ${still.slice(0, 5).join(', ')}${still.length > 5 ? ', …' : ''}.`,
  )
}

/** Journaled, so a resumed task asks the same question. */
async function untestedFiles(active: ActiveTask): Promise<readonly string[]> {
  const { journal, known, tree, baseline, request } = active
  return journal.step(`untested-${known.next.edit}`, async () => {
    const changed = await tree.changes(baseline.tree, await tree.take())
    return missingTests(changed, baseline.tests, await testInventory(tree.root, request.steps))
  })
}

/** One turn of the Editor in the journal. */
interface KeptEdit {
  /** State of the tree afterwards. */
  readonly tree: string
  /** Changed by this turn. */
  readonly files: readonly string[]
  readonly account: string
  /** Messages of the user in the prompt. */
  readonly heard?: number
  readonly ending: AgentOutcome['ending']
  readonly costUsd: number | null
  readonly durationMs: number
  readonly putBack: readonly PutBack[]
  /** Files that git ignores, whose change could not be undone. */
  readonly unsound: readonly string[]
  readonly weaker: readonly string[]
  readonly warnings: readonly string[]
}

/** Runs one turn of the Editor, or takes it from the journal, and emits its events. */
async function editTurn(active: ActiveTask, situation: Situation): Promise<KeptEdit> {
  const { journal, known, emit, tree, baseline, request } = active
  const number = known.next.edit
  known.next.edit += 1
  const kept = await journal.step(`edit-${number}`, () => edit(active, number, situation))
  emit({
    kind: 'edit',
    agent: request.agent,
    duration_ms: kept.durationMs,
    files: kept.files,
    cost_usd: kept.costUsd,
    ending: kept.ending,
  })
  for (const { path, why, isLeft } of kept.putBack)
    warn(active, `${changedMark}${path}, which ${isLeft ? 'could not be' : 'was'} put back: ${why}.`)
  for (const path of kept.unsound)
    known.unsound.push({ what: `"${path}" was changed, which git ignores and steps can see`, where: path })
  for (const each of kept.weaker) warn(active, `Tests are weaker than before: ${each}.`)
  for (const each of kept.warnings) warn(active, each)
  known.weaker = kept.weaker
  known.heard = kept.heard ?? 0
  if (kept.account !== '') known.account = kept.account
  const files = await tree.changes(baseline.tree, kept.tree)
  emit({ kind: 'diff', text: await tree.diff(baseline.tree, kept.tree, maxDiffBytes), files })
  return kept
}

/** Runs the Editor, then restores what it changed outside its limits. */
async function edit(active: ActiveTask, number: number, situation: Situation): Promise<KeptEdit> {
  const { journal, tree, writeLimits, tools, spending, context, signal, baseline, run, request } = active
  throwIfStopped(active)
  spending.check()
  const begun = journal.kept<string>(`edit-${number}-begun`)
  const before = begun ?? (await tree.take())
  const guarded = await keptBefore(active, `guarded-${number}`, begun !== undefined, () =>
    keepGuarded(tree.root),
  )
  const others = await othersBefore(active, number, before, begun !== undefined)
  if (begun === undefined) journal.keep(`edit-${number}-begun`, before)
  const messages = context.messages?.() ?? []
  const prompt = promptFor(active, situation, begun !== undefined, messages)
  const startedMs = performance.now()
  const left = spending.budget.remainingUsd()
  const outcome = await tools.edit({ prompt, number, signal, ...(left !== null && { maxCostUsd: left }) })
  const durationMs = Math.round(performance.now() - startedMs)
  spending.charge(outcome.costUsd)
  spending.add(outcome.costUsd)
  const ofGit = putGuardedBack(tree.root, guarded, 'git')
  const forbidden = await putBackForbidden(tree, writeLimits, before, (patch) =>
    writePrivateFileAtomic(run.reportPath(`put-back-${number}.patch`), patch),
  )
  const first = [...ofGit, ...forbidden]
  const rest = putGuardedBack(tree.root, guarded).filter(
    ({ path }) => !first.some((each) => each.path === path),
  )
  const aside = run.reportPath(`put-back-${number}`)
  const known = { tracked: await tree.entries(await tree.take()), leaveOut: tree.leaveOut }
  const places = { aside, place: savedPlace(active), layers: active.known.installed }
  const ofOthers = await putOthersBack(tree.root, others, known, places)
  refuseBroken(active, outcome)
  const after = await tree.take()
  return {
    tree: after,
    files: await tree.changes(before, after),
    account: context.redaction.text(outcome.finalText ?? ''),
    heard: messages.length,
    ending: outcome.ending,
    costUsd: outcome.costUsd,
    durationMs,
    putBack: [...first, ...rest, ...ofOthers],
    unsound: ofOthers.flatMap(({ path, isLeft }) => (isLeft ? [path] : [])),
    weaker: weakerChecks(baseline.tests, await testInventory(tree.root, request.steps))
      .map(({ what }) => what)
      .slice(0, 20),
    warnings: outcome.warnings ?? [],
  }
}

/** Files when the turn began, perhaps in an earlier process. They may contain secrets, so they are removed with the states of the tree. */
async function keptBefore<T extends GuardedFiles | SavedFiles>(
  { run }: ActiveTask,
  name: string,
  isContinued: boolean,
  take: () => T | Promise<T>,
): Promise<T> {
  const path = join(placesOf(run).shadow, `${name}.json`)
  const kept = isContinued ? (readJsonIfExists(path) as T | undefined) : undefined
  if (kept !== undefined) return kept
  const taken = await take()
  writePrivateFileAtomic(path, JSON.stringify(taken))
  return taken
}

async function othersBefore(
  active: ActiveTask,
  number: number,
  before: string,
  isContinued: boolean,
): Promise<SavedFiles> {
  const { tree, run } = active
  const known = { tracked: await tree.entries(before), leaveOut: tree.leaveOut }
  const earlier = asObject(readJsonIfExists(join(placesOf(run).shadow, `others-${number - 1}.json`)))?.saved
  return keptBefore(active, `others-${number}`, isContinued, () =>
    saveOthers(tree.root, known, savedPlace(active), (earlier ?? {}) as SavedFiles['saved']),
  )
}

function savedPlace({ run }: ActiveTask): string {
  return join(placesOf(run).shadow, 'others')
}

/** An infrastructure failure ends the task. The work of an agent that crashed or timed out is verified. */
function refuseBroken(active: ActiveTask, { ending, failure, invalid }: AgentOutcome): void {
  throwIfStopped(active)
  if (ending === 'over_budget') {
    const reason = 'the budget (--max-cost-usd) was spent during an edit'
    throw new TaskHalt({ kind: 'stuck', reason })
  }
  const advice = 'Check the agent with gantry doctor, and that its model can be reached. Then retry the task.'
  if (invalid !== undefined) throw infra('Editor', invalid, advice)
  if (failure !== null) throw infra('Editor', `${failure.reason}: ${failure.message}`, advice)
}

function promptFor(
  active: ActiveTask,
  situation: Situation,
  isContinued: boolean,
  messages: readonly string[],
): string {
  const { task, known, request, stuck } = active
  const { decisions, conventions, weaker, scoutA, scoutB } = known
  return editorPrompt({
    ...{ task, stuck, situation, isContinued, messages, decisions, conventions, weaker },
    ...{ package: request.package, steps: request.steps, mayAsk: (request.answerTimeoutMs ?? 0) > 0 },
    ...{ strategy: currentStrategy(active), scoutA: scoutA?.report ?? null, scoutB: scoutB?.report ?? null },
  })
}

function warn({ emit, known }: ActiveTask, message: string): void {
  if (!known.notes.includes(message)) known.notes.push(message)
  emit({ kind: 'note', level: 'warning', message })
}
