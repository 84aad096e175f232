import { settled } from '../../core/case-tally.ts'
import type { GateResult } from '../../core/trial.ts'
import type { Verdict } from '../../core/verdict.ts'
import { componentLabel } from '../component-list.ts'
import type { Execution } from '../execute/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { KnownComponent } from './detection/known-components.ts'
import { isHookUntried } from './trigger-reason.ts'

export interface VerdictFacts {
  readonly scenario: PluginScenario
  readonly execution: Execution
  readonly expected: KnownComponent | 'unknown' | null
  /** Components of the plugin under test that fired in an arm where it should not be loaded. */
  readonly leaked: readonly string[]
  /** null: only a judge may decide, and there is no judgement. */
  readonly triggered: boolean | null
  /** null when no trigger is expected: without a component, or without the plugin. */
  readonly triggerGate: GateResult | null
  readonly graders: readonly GraderGate[]
}

export interface VerdictAndReason {
  readonly verdict: Verdict
  readonly reason: string
  readonly untried?: true
}

/** The verdict of a trial: first whether the case is broken, then whether infrastructure failed, then the expectations. */
export function trialVerdict(facts: VerdictFacts): VerdictAndReason {
  return broken(facts) ?? unhappened(facts) ?? untried(facts) ?? asked(facts)
}

function broken({ scenario, execution, expected, leaked, graders }: VerdictFacts): VerdictAndReason | null {
  const invalid = (reason: string): VerdictAndReason => ({ verdict: 'invalid', reason })
  if (execution.invalid !== undefined) return invalid(execution.invalid)
  if (expected === 'unknown') {
    const name = componentLabel(
      scenario.component_type,
      scenario.expected_component || scenario.component_ref,
    )
    return invalid(`the plugin has no ${name}: correct or remove scenario ${scenario.id}`)
  }
  if (leaked.length > 0)
    return invalid(`${leaked.join(' and ')} fired in the arm without the plugin: it is installed elsewhere`)
  if (expected === null && graders.length === 0)
    return invalid(`scenario ${scenario.id} names no component and has no graders: it checks nothing`)
  return null
}

/** Infrastructure failed. A firing counts however the agent ended, but graders may look at unfinished work. */
function unhappened({ execution, triggered, triggerGate, graders }: VerdictFacts): VerdictAndReason | null {
  const infra = (reason: string): VerdictAndReason => ({ verdict: 'infra', reason })
  if (execution.failure !== undefined)
    return infra(`the agent could not work (${execution.failure.reason}): ${execution.failure.message}`)
  if (triggered === null && triggerGate !== null)
    return infra('no judge gave a decision, and with llm_only only a judge decides')
  const ending = endings[execution.ending]
  if (ending !== undefined && (triggered !== true || graders.some(({ scored }) => scored)))
    return infra(ending)
  const unasked = graders.find(({ error, scored }) => error !== undefined && scored)
  return unasked === undefined ? null : infra(`grader ${unasked.gate.type} could not run: ${unasked.error}`)
}

/** The model never called a tool of the hook: the request is at fault, not the hook. */
function untried({
  scenario,
  execution,
  expected,
  triggered,
  graders,
}: VerdictFacts): VerdictAndReason | null {
  if (expected === null || expected === 'unknown' || expected.type !== 'hook') return null
  if (!scenario.expected_trigger || triggered === true || graders.length > 0) return null
  return isHookUntried(expected, execution)
    ? {
        verdict: 'invalid',
        untried: true,
        reason: `the model called no tool that fits the matcher of ${componentLabel('hook', expected.name)}, so scenario ${scenario.id} did not try it: make the request need that tool`,
      }
    : null
}

const endings: Readonly<Partial<Record<Execution['ending'], string>>> = {
  over_budget: 'the budget ran out before the trial ended',
  cancelled: 'the trial was stopped before it ended',
  crashed: 'the agent crashed before the trial ended',
  not_started: 'the agent did not start',
}

function asked({ triggerGate, graders, execution }: VerdictFacts): VerdictAndReason {
  if (triggerGate?.passed === false) return { verdict: 'fail', reason: triggerGate.message }
  const failed = graders.filter(({ gate, scored }) => scored && !gate.passed)
  const scored = graders.filter((grader) => grader.scored).length
  if (failed.length > 0) {
    const messages = failed.map(({ gate }) => gate.message).join('; ')
    return { verdict: 'fail', reason: `${failed.length} of ${scored} graders failed: ${messages}` }
  }
  const proven = [
    ...(triggerGate === null ? [] : [triggerGate.message]),
    ...(scored === 0 ? [] : [`${scored === 1 ? 'the grader' : `all ${scored} graders`} passed`]),
  ]
  return {
    verdict: 'pass',
    reason:
      proven.length > 0
        ? proven.join('; ')
        : `the agent worked in the arm ${execution.trial.arm}, where no component is expected`,
  }
}

export interface GraderGate {
  readonly gate: GateResult
  readonly weight: number
  /** false: shown only, such as a grader that makes sense only with the plugin, in the arm without it. */
  readonly scored: boolean
  /** Why the grader could not run; such a trial is not counted. */
  readonly error?: string
}

/** The weighted share of passed graders; null when none is scored, or a scored one could not run. */
export function graderScore(graders: readonly GraderGate[]): number | null {
  const scored = graders.filter(({ scored: isScored, weight }) => isScored && weight > 0)
  if (scored.some(({ error }) => error !== undefined)) return null
  const all = scored.reduce((sum, { weight }) => sum + weight, 0)
  if (all === 0) return null
  const passed = scored.reduce((sum, { gate, weight }) => sum + (gate.passed ? weight : 0), 0)
  return settled(passed / all)
}
