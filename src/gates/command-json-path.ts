import { z } from 'zod'
import { evaluateAssertion, formatAssertion, parseAssertion } from '../core/json-assertion.ts'
import { type JsonSelection, jsonPathProblem, queryJson } from '../core/json-path.ts'
import type { Gate } from './contract.ts'
import { excerpt } from './excerpt.ts'
import { command, description, expectExit, timeoutSecs } from './fields.ts'
import { commandName, runForOutput } from './run-command.ts'

const schema = z
  .strictObject({
    type: z
      .literal('command_json_path')
      .describe('A command prints JSON in which an assertion about a path is true.'),
    command,
    path: z
      .string()
      .superRefine((path, context) => {
        const problem = jsonPathProblem(path)
        if (problem !== null) context.addIssue({ code: 'custom', message: `the path is invalid: ${problem}` })
      })
      .describe('JSONPath (RFC 9535) that begins with $, such as $.tasks[0].title.'),
    assertion: z
      .string()
      .superRefine((source, context) => {
        const parsed = parseAssertion(source)
        if (parsed.kind === 'bad') context.addIssue({ code: 'custom', message: parsed.message })
      })
      .describe(
        'exists (present and not null) | equals <JSON or text> | contains <text> (in a string, or as an element of an array) | len >= N, len == N, len <= N, len > N, len < N (array or object).',
      ),
    expect_exit: expectExit,
    timeout_secs: timeoutSecs,
    description,
  })
  .describe(
    'Passes when the stdout of the command is JSON and the assertion is true for what the path selects. If the path selects nothing, every assertion fails; several values are judged as a list.',
  )

export const commandJsonPath = {
  type: 'command_json_path',
  schema,
  async check(spec, context) {
    const parsed = parseAssertion(spec.assertion)
    if (parsed.kind === 'bad') return { passed: false, message: parsed.message }
    const run = await runForOutput(spec, context)
    if (run.kind === 'broken') return run.finding
    const detail = { path: spec.path, assertion: spec.assertion, ...run.detail }
    const document = parseJson(run.stdout)
    if (document.kind === 'bad') {
      const why = run.truncated ? 'it is too long to be kept whole' : document.message
      return { passed: false, message: `stdout of ${commandName(spec.command)} is not JSON: ${why}`, detail }
    }
    const selection = queryJson(document.value, spec.path)
    if (selection.kind === 'bad')
      return { passed: false, message: `the path ${spec.path} is invalid: ${selection.message}`, detail }
    const { holds, reason } = evaluateAssertion(parsed.assertion, selection)
    const verb = holds ? 'holds' : 'does not hold'
    return {
      passed: holds,
      message: `"${excerpt(formatAssertion(parsed.assertion), 200)}" ${verb} at ${spec.path}: ${reason}`,
      detail: { found: foundIn(selection), ...detail },
    }
  },
} satisfies Gate<z.output<typeof schema>>

function parseJson(text: string): { kind: 'ok'; value: unknown } | { kind: 'bad'; message: string } {
  if (text.trim() === '') return { kind: 'bad', message: 'it is empty' }
  try {
    return { kind: 'ok', value: JSON.parse(text) }
  } catch (cause) {
    return { kind: 'bad', message: excerpt(cause instanceof Error ? cause.message : String(cause), 200) }
  }
}

function foundIn(selection: Exclude<JsonSelection, { kind: 'bad' }>): string {
  if (selection.kind === 'absent') return 'nothing'
  return excerpt(JSON.stringify(selection.values.length === 1 ? selection.values[0] : selection.values))
}
