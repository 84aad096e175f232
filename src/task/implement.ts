import { loopLimits, milestones } from './contract.ts'
import { editStep, type KeptEdit } from './edit-step.ts'
import { missingTests } from './editor/missing-tests.ts'
import type { Situation } from './editor/prompt-facts.ts'
import { testsNow } from './editor/tests-now.ts'
import type { TaskInHand } from './task-in-hand.ts'

/** How often the Editor is asked again after a tree that failed before. */
const repeatsRefused = 2

/**
 * Edits until the tree is one that was not verified before. An Editor that cannot come up with one is verified all the same, so
 * that the loop ends.
 */
export async function implement(hand: TaskInHand, situation: Situation): Promise<void> {
  const { known, emit } = hand
  let turn = await editStep(hand, situation)
  for (let refused = 0; ; refused += 1) {
    const repeated = repeats(hand, turn)
    if (repeated === null) return
    if (refused === repeatsRefused) {
      const message = `The Editor changed nothing that was not tried before, after ${repeatsRefused} refusals. It is verified all the same.`
      known.notes.push(message)
      emit({ kind: 'note', level: 'warning', message })
      return
    }
    const of = repeated.attempt
    const which =
      of === null ? 'the tree is unchanged' : `the tree is the one of verification ${of}, which failed`
    emit({
      kind: 'note',
      level: 'warning',
      message: `Refused before it was verified: ${which} (${refused + 1} of ${repeatsRefused}).`,
    })
    turn = await editStep(hand, { kind: 'repeated', of, before: situation })
  }
}

function repeats(
  { known, baseline }: TaskInHand,
  { tree }: KeptEdit,
): { readonly attempt: number | null } | null {
  const failed = known.attempts.findLast((attempt) => attempt.tree === tree)
  if (failed !== undefined) return { attempt: failed.attempt }
  return known.attempts.length === 0 && tree === baseline.tree ? { attempt: null } : null
}

/** One further turn when behaviour changed and no test did. What is still missing then is told, not enforced. */
export async function demandTests(hand: TaskInHand): Promise<void> {
  const { known, emit } = hand
  const missing = await untested(hand)
  if (missing.length === 0) return
  await editStep(hand, { kind: 'untested', files: missing })
  const still = await untested(hand)
  if (still.length === 0) return
  const message = `No test was added or changed for ${still.slice(0, 5).join(', ')}${still.length > 5 ? ', …' : ''}.`
  known.notes.push(message)
  emit({ kind: 'note', level: 'warning', message })
}

/** Kept, so that a task that is taken up again asks the same question. */
async function untested({ journal, known, tree, baseline, request }: TaskInHand): Promise<readonly string[]> {
  return journal.step(`untested-${known.next.edit}`, async () => {
    const changed = await tree.changes(baseline.tree, await tree.take())
    return missingTests(changed, baseline.tests, await testsNow(tree.root, request.steps))
  })
}

export function announceEdit({ emit }: TaskInHand): void {
  emit({ kind: 'milestone', milestone: 'implementing', text: milestones.implementing })
}

export function announceChange({ emit, known }: TaskInHand): void {
  emit({
    kind: 'milestone',
    milestone: 'implemented',
    text: milestones.implemented,
    attempt: known.attempts.length + 1,
    max_attempts: loopLimits.hardStopAt,
  })
}
