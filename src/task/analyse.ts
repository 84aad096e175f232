import { askScoutA, askScoutB } from './ask-scouts.ts'
import { milestones } from './contract.ts'
import { findConflicts } from './editor/find-conflicts.ts'
import { firstStrategy } from './editor/first-strategy.ts'
import { sampleConventions } from './editor/sample-conventions.ts'
import { takeSnapshot } from './take-snapshot.ts'
import type { TaskInHand } from './task-in-hand.ts'

/** Both Scouts, one after the other; what they disagree about is decided; the first strategy follows from them. */
export async function analyse(hand: TaskInHand): Promise<void> {
  const { emit, task, known, request, states } = hand
  states.move('ANALYZING', 'the task was started')
  emit({ kind: 'milestone', milestone: 'analyzing', text: milestones.analyzing })
  const inside = request.package === null ? '' : `\nThe task is confined to the package ${request.package}.`
  await askScoutA(hand, {
    question: `Which files matter for this task, where are the entry points and risk zones, what is the smallest safe slice, and which conventions hold?\n\nTask: ${task.objective}${inside}`,
  })
  await askScoutB(hand, {
    question: `How is this repository built and tested, what does it need, and what in the environment may stand in the way of this task?\n\nTask: ${task.objective}${inside}`,
  })
  await decide(hand)
  known.strategies.push(firstStrategy(task, known.scoutA?.report ?? null, hand.stuck))
  emit({ kind: 'milestone', milestone: 'analyzed', text: milestones.analyzed })
  if (!request.dryRun) await takeSnapshot(hand, 'task_start')
}

/** Settles what the last answers disagree about; the same question is decided once. */
export async function decide(hand: TaskInHand): Promise<void> {
  const { known, emit, tree, baseline } = hand
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
