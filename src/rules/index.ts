import { completionGate } from './completion-gate.ts'
import { confineWrites } from './confine-writes.ts'
import type { Rule } from './contract.ts'
import { countEdits } from './count-edits.ts'
import { detectLoops } from './detect-loops.ts'
import { injectContext } from './inject-context.ts'
import { protectFiles } from './protect-files.ts'
import { protectItself } from './protect-itself.ts'
import { recordEvidence } from './record-evidence.ts'
import { refuseUnseenInput } from './refuse-unseen-input.ts'
import { relayCompaction } from './relay-compaction.ts'
import { timeBudget } from './time-budget.ts'
import { trackTasks } from './track-tasks.ts'

/** Every rule, in the order in which they speak. */
export const rules: readonly Rule[] = [
  protectItself,
  protectFiles,
  confineWrites,
  refuseUnseenInput,
  injectContext,
  relayCompaction,
  countEdits,
  detectLoops,
  timeBudget,
  recordEvidence,
  trackTasks,
  completionGate,
]
