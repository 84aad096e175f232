import type { Arm } from '../../contract.ts'
import type { Grader } from '../../generate/contract.ts'

export interface ArmGrader {
  readonly grader: Grader
  /** false: it is shown and does not count. */
  readonly scored: boolean
}

/**
 * Which graders are asked in an arm, and which count. Where trials without the plugin are compared with trials with it, a grader
 * that can only pass with it would make up the difference: it is shown and does not count, and is not asked without the plugin.
 * If there are no others they all count.
 */
export function scoredGraders(
  graders: readonly Grader[],
  arm: Arm,
  arms: readonly Arm[],
): readonly ArmGrader[] {
  const isCompared = arms.includes('without') && arms.length > 1
  if (!isCompared || graders.every(isWithOnly)) return graders.map((grader) => ({ grader, scored: true }))
  return graders
    .map((grader) => ({ grader, scored: !isWithOnly(grader) }))
    .filter(({ scored }) => scored || arm !== 'without')
}

function isWithOnly(grader: Grader): boolean {
  if (grader.arm !== 'default') return grader.arm === 'with-only'
  return grader.type === 'tool_used' && grader.use.tool === 'Skill'
}
