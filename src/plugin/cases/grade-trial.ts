import { addCost } from '../../core/add-cost.ts'
import { counted } from '../../core/counted.ts'
import { compilePattern, escapePattern, type Pattern } from '../../core/pattern.ts'
import type { GateResult } from '../../core/trial.ts'
import { addTokens, noTokens } from '../../core/trial.ts'
import type { SampleCheckpoint } from '../../judge/take-samples.ts'
import type { Arm } from '../contract.ts'
import type { ModelUse } from '../evaluate/contract.ts'
import { type GraderGate, graderScore } from '../evaluate/trial-verdict.ts'
import type { Execution, PluginTranscript, ToolCapture } from '../execute/contract.ts'
import type { Grader, PluginScenario, ToolPattern } from '../generate/contract.ts'
import { gradeForMoney, isPaid } from './grade/paid-graders.ts'
import type { StoredPassVote, VoteOptions } from './grade/take-votes.ts'
import { createdFiles, type GradedTrial, mockCalls, targetText } from './grade/target-text.ts'
import { brokenExpectation } from './mock-servers.ts'
import { compileJsPattern, type InputMatch, inputMatch } from './pattern/compile-js-pattern.ts'

export interface GradeOptions {
  /** All arms of the run: they decide which graders are scored. */
  readonly arms: readonly Arm[]
  /** null: no judge is available; graders that need one report this. */
  readonly judge: VoteOptions | null
  /** Keeps the votes for a grader, by its name. */
  readonly checkpoint?: (grader: string) => SampleCheckpoint<StoredPassVote>
}

/** Runs every grader of a case on a trial, with the same meaning as in `claude plugin eval`. */
export async function gradeTrial(
  scenario: PluginScenario,
  execution: Execution,
  transcript: PluginTranscript | null,
  { arms, judge, checkpoint }: GradeOptions,
) {
  const trial: GradedTrial = { scenario, execution, transcript }
  const graders = scoredGraders(scenario.case?.graders ?? [], execution.trial.arm, arms)
  // A trial that failed for infrastructure reasons is not judged, because judging costs money.
  const isMoot = execution.failure !== undefined || execution.invalid !== undefined
  const graded = await Promise.all(
    graders.map(async ({ grader, scored }) => {
      const { passed, message, costUsd, tokens } = !isPaid(grader)
        ? { ...gradeFreely(grader, trial), costUsd: 0, tokens: noTokens }
        : isMoot || judge === null
          ? noVotes
          : await gradeForMoney(grader, trial, judge, checkpoint?.(grader.name))
      const gate: GraderGate = {
        weight: grader.weight,
        scored,
        gate: gateOf(grader, scored, passed === true, message),
        ...(passed === null && { error: message }),
      }
      return { gate, costUsd, tokens }
    }),
  )
  const broken = isMoot
    ? undefined
    : mockCalls(trial).find(({ output }) => output.includes(brokenExpectation))
  // As in the built-in runner, a call that a mock did not expect ends it: nothing else counts.
  const gates: readonly GraderGate[] =
    broken === undefined
      ? graded.map(({ gate }) => gate)
      : [
          {
            weight: 1,
            scored: true,
            gate: {
              type: 'mock_expectation',
              passed: false,
              message: `${broken.tool}: ${broken.output}`,
              detail: { input: broken.input },
            },
          },
        ]
  const isUndecided = gates.some(({ error, scored }) => error !== undefined && scored)
  const cost_usd = graded.reduce<number | null>((sum, { costUsd }) => addCost(sum, costUsd), 0)
  const tokens = graded.reduce((sum, one) => addTokens(sum, one.tokens), noTokens)
  const isAsked = judge !== null && (cost_usd !== 0 || tokens.input + tokens.output > 0)
  const usage: ModelUse | null = isAsked ? { model: judge.model.name, tokens, cost_usd } : null
  return {
    /** Each grader with its weight, whether it is scored, and why it could not be evaluated. */
    gates,
    /** Weighted share of passed graders; null without scored graders, or when one of them could not be evaluated. */
    score: isUndecided ? null : graderScore(gates),
    /** null = unmetered. */
    cost_usd,
    /** What the votes of models used; absent without any. */
    ...(usage !== null && { usage }),
  }
}

const noVotes = { passed: null, message: 'no judge is available', costUsd: 0, tokens: noTokens }

function gateOf(
  { type, name, weight }: Grader,
  scored: boolean,
  passed: boolean,
  message: string,
): GateResult {
  return { type, passed, message: `${name}: ${message}`, detail: { grader: name, weight, scored } }
}

/**
 * Which graders run in an arm, and which are scored. When trials with and without the plugin are compared, a grader that can only
 * pass with the plugin would distort the difference: it is shown but not scored, and does not run without the plugin. If there are
 * no other graders, all are scored.
 */
function scoredGraders(graders: readonly Grader[], arm: Arm, arms: readonly Arm[]) {
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

type FreeGrader = Extract<Grader, { type: 'regex' | 'tool_used' | 'tool_order' | 'file_exists' }>

interface Grade {
  /** null: the grader itself is broken, so it does not decide about the trial. */
  readonly passed: boolean | null
  readonly message: string
}

function gradeFreely(grader: FreeGrader, trial: GradedTrial): Grade {
  switch (grader.type) {
    case 'regex':
      return regexGrade(grader, trial)
    case 'tool_used':
      return useGrade(grader, trial)
    case 'tool_order':
      return orderGrade(grader, trial)
    case 'file_exists':
      return fileGrade(grader, trial)
  }
}

function regexGrade(
  { pattern: source, flags, match, target }: Extract<FreeGrader, { type: 'regex' }>,
  trial: GradedTrial,
): Grade {
  const looked = targetText(target, trial)
  if (looked.kind === 'nothing') return { passed: false, message: looked.why }
  const compiled = compileJsPattern(source, flags)
  if (compiled.kind === 'bad') return { passed: null, message: compiled.message }
  const { pattern } = compiled
  if (typeof match === 'object') {
    const found = pattern.count(looked.text)
    return {
      passed: found === match.count,
      message: `${source} is found ${counted(found, 'time')} in ${looked.label}, expected ${match.count}`,
    }
  }
  const isFound = pattern.test(looked.text)
  return {
    passed: isFound === (match === 'contains'),
    message: `${source} is ${isFound ? 'found' : 'not found'} in ${looked.label}`,
  }
}

function useGrade(
  { use, min, max }: Extract<FreeGrader, { type: 'tool_used' }>,
  { transcript, execution }: GradedTrial,
): Grade {
  const match = inputMatch(use.input_match)
  if (match.kind === 'bad') return { passed: null, message: match.message }
  const count = fittingCalls(toolCalls(transcript, execution), use.tool, match).length
  const wanted = max === null ? `at least ${min}` : min === max ? `${min}` : `${min} to ${max}`
  return {
    passed: count >= min && count <= (max ?? Infinity),
    message: `${toolWords(use)} was called ${counted(count, 'time')}, expected ${wanted}`,
  }
}

function orderGrade(
  { before, after }: Extract<FreeGrader, { type: 'tool_order' }>,
  { transcript, execution }: GradedTrial,
): Grade {
  const calls = toolCalls(transcript, execution)
  const early = inputMatch(before.input_match)
  const late = inputMatch(after.input_match)
  if (early.kind === 'bad') return { passed: null, message: early.message }
  if (late.kind === 'bad') return { passed: null, message: late.message }
  const [first] = fittingCalls(calls, before.tool, early)
  const [second] = fittingCalls(calls, after.tool, late)
  if (first === undefined) return { passed: false, message: `${toolWords(before)} was never called` }
  if (second === undefined) return { passed: false, message: `${toolWords(after)} was never called` }
  const passed = first < second
  return {
    passed,
    message: `${toolWords(before)} was called first as call ${first + 1}, ${passed ? 'before' : 'not before'} ${toolWords(after)} as call ${second + 1}`,
  }
}

function toolWords({ tool, input_match: match }: ToolPattern): string {
  if (match === undefined) return tool
  return `${tool} with ${typeof match === 'string' ? match : JSON.stringify(match)}`
}

function fileGrade(
  { path, exists }: Extract<FreeGrader, { type: 'file_exists' }>,
  { execution }: GradedTrial,
): Grade {
  const glob = graderGlob(path)
  const made = createdFiles(execution).find((file) => glob.test(file))
  return {
    passed: (made !== undefined) === exists,
    message: made === undefined ? `no file ${path} was created` : `${made} was created`,
  }
}

const wild: Readonly<Record<string, string>> = {
  '**/': '(?:(?s:.*)/)?',
  '**': '(?s:.*)',
  '*': '[^/]*',
  '?': '[^/]',
}

/**
 * A glob with the meaning it has in `claude plugin eval`: `*` and `?` within a name, `**` across directories, everything else
 * literal, including brackets and braces. Names that begin with a dot are not special.
 */
function graderGlob(glob: string): Pattern {
  const source = glob
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((part) => wild[part] ?? (part === '' ? '' : escapePattern(part)))
    .join('')
  const compiled = compilePattern(`\\A${source}\\z`)
  if (compiled.kind === 'bad') throw new Error(`the glob ${glob} became ${source}: ${compiled.message}`)
  return compiled.pattern
}

/**
 * Every tool call of the model in order, including failed ones and those of subagents.
 * Without a transcript, the captures of the hooks are used.
 */
function toolCalls(
  transcript: PluginTranscript | null,
  { detected_tools }: Execution,
): readonly Pick<ToolCapture, 'name' | 'input'>[] {
  if (transcript === null) return detected_tools
  return transcript.events.flatMap((event) =>
    event.type === 'assistant' ? (event.edit.message.tool_calls ?? []) : [],
  )
}

/** Indexes of the matching calls. */
function fittingCalls(
  calls: ReturnType<typeof toolCalls>,
  tool: string,
  match: Extract<InputMatch, { kind: 'ok' }>,
): readonly number[] {
  return calls.flatMap(({ name, input }, index) => (name === tool && match.fits(input) ? [index] : []))
}
