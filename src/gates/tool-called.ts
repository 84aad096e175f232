import picomatch from 'picomatch'
import { z } from 'zod'
import type { ToolUse } from '../analysis/contract.ts'
import { compilePattern } from '../core/pattern.ts'
import { flag, optionalText } from '../core/schema.ts'
import type { Gate } from './contract.ts'
import { excerpt, shortList } from './excerpt.ts'
import { description, pattern } from './fields.ts'

const selector = {
  tool: optionalText('Name of the tool as the agent calls it, or a glob such as mcp__*.'),
  command: pattern
    .optional()
    .describe(
      'Regular expression (RE2) found in the shell command the tool ran; a tool without a command does not match.',
    ),
}

const needsSelector = 'name a tool, a command pattern, or both'
const other = z.strictObject(selector).refine(hasSelector, { error: needsSelector }).optional()

const schema = z
  .strictObject({
    type: z.literal('tool_called').describe('The agent used a tool a number of times, or in an order.'),
    ...selector,
    min: z.int().min(0).optional().describe('Fewest uses that pass. Default 1, or 0 when max is 0.'),
    max: z.int().min(0).optional().describe('Most uses that pass; 0 asserts that the tool was never used.'),
    succeeded: flag(
      false,
      'true: count only uses whose result is not an error and has no non-zero exit code.',
    ),
    before: other.describe(
      'The first use must come before the first use of this. Also passes when this was never used.',
    ),
    after: other.describe(
      'The first use must come after the first use of this. Fails when this was never used.',
    ),
    description,
  })
  .refine(hasSelector, { error: needsSelector })
  .refine(({ min, max }) => max === undefined || max >= (min ?? 0), {
    error: 'max is smaller than min',
    path: ['max'],
  })
  .describe('Passes when the agent used the tool between min and max times, in the order asked for.')

type Spec = z.output<typeof schema>

interface Selector {
  readonly tool?: string | undefined
  readonly command?: string | undefined
}

export const toolCalled = {
  type: 'tool_called',
  needs: ['agent_events'],
  schema,
  async check(spec, { toolUses }) {
    const matches = useMatcher(spec)
    if (typeof matches === 'string') return { passed: false, message: matches }
    const counted = toolUses.filter((use) => matches(use) && (!spec.succeeded || succeeded(use)))
    const detail = {
      matching: counted.length,
      tool_uses: toolUses.length,
      uses: shortList(counted.map(describe), 10),
    }
    const problem =
      countProblem(spec, counted.length, toolUses.length) ?? orderProblem(spec, counted, toolUses)
    return { passed: problem === null, message: problem ?? passMessage(spec, counted, toolUses), detail }
  },
} satisfies Gate<Spec>

function hasSelector({ tool, command }: Selector): boolean {
  return tool !== undefined || command !== undefined
}

/** A message instead of a function when the command pattern is invalid. */
function useMatcher({ tool, command }: Selector): ((use: ToolUse) => boolean) | string {
  const compiled = command === undefined ? null : compilePattern(command)
  if (compiled?.kind === 'bad') return `the command pattern is invalid: ${compiled.message}`
  // With `bash`, a star also matches a slash, because tool names are not paths.
  const glob = tool === undefined ? null : picomatch(tool, { dot: true, bash: true, nonegate: true })
  return (use) =>
    (glob === null || use.tool === tool || glob(use.tool)) &&
    (compiled === null || (use.command !== undefined && compiled.pattern.test(use.command)))
}

/** A use without a result is not known to have succeeded. */
function succeeded({ output, isError, exitCode }: ToolUse): boolean {
  return output !== undefined && isError !== true && (exitCode ?? 0) === 0
}

function countProblem(spec: Spec, count: number, total: number): string | null {
  const min = spec.min ?? (spec.max === 0 ? 0 : 1)
  const seen = total === 0 ? '; the agent reported no tool use at all' : ''
  if (count < min) return `${nameOf(spec)} was used ${times(count)}, expected at least ${min}${seen}`
  if (spec.max !== undefined && count > spec.max)
    return `${nameOf(spec)} was used ${times(count)}, expected at most ${spec.max}`
  return null
}

function orderProblem(spec: Spec, counted: readonly ToolUse[], uses: readonly ToolUse[]): string | null {
  const [first] = counted
  if (first === undefined) return null
  const own = uses.indexOf(first)
  for (const [word, selected] of [
    ['before', spec.before],
    ['after', spec.after],
  ] as const) {
    if (selected === undefined) continue
    const matches = useMatcher(selected)
    if (typeof matches === 'string') return matches
    const that = uses.findIndex(matches)
    if (word === 'before' && that !== -1 && own >= that)
      return `${nameOf(spec)} was first used after ${nameOf(selected)}, expected before it`
    if (word === 'after' && that === -1) return `${nameOf(selected)}, which had to come first, was never used`
    if (word === 'after' && own <= that)
      return `${nameOf(spec)} was first used before ${nameOf(selected)}, expected after it`
  }
  return null
}

function passMessage(spec: Spec, counted: readonly ToolUse[], uses: readonly ToolUse[]): string {
  const count = `${nameOf(spec)} was used ${times(counted.length)}`
  if (uses.length === 0) return `${count}; the agent reported no tool use at all`
  const before = spec.before === undefined ? null : useMatcher(spec.before)
  const idle = typeof before === 'function' && !uses.some(before)
  return spec.before !== undefined && idle ? `${count}; ${nameOf(spec.before)} was never used` : count
}

function nameOf({ tool, command }: Selector): string {
  const like = command === undefined ? '' : ` with a command like /${excerpt(command, 120)}/`
  return `${tool ?? 'a tool'}${like}`
}

function describe({ tool, command, exitCode }: ToolUse): string {
  const end = exitCode === undefined ? '' : ` (exit code ${exitCode})`
  return `${tool}${command === undefined ? '' : `: ${excerpt(command, 120)}`}${end}`
}

function times(count: number): string {
  return count === 1 ? 'once' : count === 0 ? 'never' : `${count} times`
}
