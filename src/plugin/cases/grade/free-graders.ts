import { counted } from '../../../core/counted.ts'
import { compilePattern, escapePattern, type Pattern } from '../../../core/pattern.ts'
import type { Execution, PluginTranscript } from '../../execute/contract.ts'
import type { Grader, ToolPattern } from '../../generate/contract.ts'
import { compileJsPattern, type InputMatch, inputMatch } from '../pattern/compile-js-pattern.ts'
import { createdFiles, type GradedTrial, targetText } from './target-text.ts'

/** A grader that needs no model. */
export type FreeGrader = Extract<Grader, { type: 'regex' | 'tool_used' | 'tool_order' | 'file_exists' }>

export interface Grade {
  /** null: the grader itself is broken, so it does not decide about the trial. */
  readonly passed: boolean | null
  readonly message: string
}

export function gradeFreely(grader: FreeGrader, trial: GradedTrial): Grade {
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
 * A glob of a grader, with the meaning it has for `claude plugin eval`: `*` and `?` within a name, `**` over directories, all else
 * letter by letter, brackets and braces too. Names that begin with a dot are names like others.
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

interface GradedCall {
  readonly name: string
  readonly input: unknown
}

/**
 * Every tool call of the model in order, including failed ones and those of subagents.
 * Without a transcript what the hooks saw has to do.
 */
function toolCalls(
  transcript: PluginTranscript | null,
  { detected_tools }: Execution,
): readonly GradedCall[] {
  if (transcript === null) return detected_tools
  return transcript.events.flatMap((event) =>
    event.type === 'assistant' ? (event.edit.message.tool_calls ?? []) : [],
  )
}

/** The places of the calls that fit. */
function fittingCalls(
  calls: readonly GradedCall[],
  tool: string,
  match: Extract<InputMatch, { kind: 'ok' }>,
): readonly number[] {
  return calls.flatMap(({ name, input }, index) => (name === tool && match.fits(input) ? [index] : []))
}
