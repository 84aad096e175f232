import { completionGate } from './completion-gate.ts'
import { confineWrites } from './confine-writes.ts'
import type { Rule } from './contract.ts'
import { countEdits } from './count-edits.ts'
import { detectLoops } from './detect-loops.ts'
import { injectContext } from './inject-context.ts'
import { keepHooks } from './keep-hooks.ts'
import { noticeChanges } from './notice-changes.ts'
import { protectFiles } from './protect-files.ts'
import { protectItself } from './protect-itself.ts'
import { recordEvidence } from './record-evidence.ts'
import { refuseUnseenInput } from './refuse-unseen-input.ts'
import { relayCompaction } from './relay-compaction.ts'
import { sumUp } from './sum-up.ts'
import { timeBudget } from './time-budget.ts'
import { trackTasks } from './track-tasks.ts'

/** Every rule, in the order in which they are asked. */
export const rules: readonly Rule[] = [
  protectItself,
  keepHooks,
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
  noticeChanges,
  sumUp,
]
