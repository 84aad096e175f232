import { z } from 'zod'
import type { Gate, GateContext, GateFinding } from './contract.ts'
import { command, description, expectExit, pattern, substring, timeoutSecs } from './fields.ts'
import { commandName, exitText, runCommand, runForOutput, truncationNote } from './run-command.ts'
import { searchFor } from './search-for.ts'

const succeedsSchema = z
  .strictObject({
    type: z.literal('command_succeeds').describe('A command exits with 0.'),
    command,
    timeout_secs: timeoutSecs,
    description,
  })
  .describe('Passes when the command exits with 0.')

export const commandSucceeds = {
  type: 'command_succeeds',
  schema: succeedsSchema,
  async check(spec, context) {
    const run = await runCommand(spec, context)
    if (run.kind === 'broken') return run.finding
    const message = `${commandName(spec.command)} exited with ${exitText(run.exitCode)}`
    return { passed: run.exitCode === 0, message, detail: run.detail }
  },
} satisfies Gate<z.output<typeof succeedsSchema>>

const containsSchema = z
  .strictObject({
    type: z.literal('command_output_contains').describe('The stdout of a command contains a text.'),
    command,
    substring,
    expect_exit: expectExit,
    timeout_secs: timeoutSecs,
    description,
  })
  .describe('Passes when the stdout of the command contains the text. stderr is not looked at.')

export const commandOutputContains = {
  type: 'command_output_contains',
  schema: containsSchema,
  check: checkOutput,
} satisfies Gate<z.output<typeof containsSchema>>

const matchesSchema = z
  .strictObject({
    type: z
      .literal('command_output_matches')
      .describe('The stdout of a command matches a regular expression.'),
    command,
    pattern,
    expect_exit: expectExit,
    timeout_secs: timeoutSecs,
    description,
  })
  .describe('Passes when the pattern is found in the stdout of the command. stderr is not looked at.')

export const commandOutputMatches = {
  type: 'command_output_matches',
  schema: matchesSchema,
  check: checkOutput,
} satisfies Gate<z.output<typeof matchesSchema>>

async function checkOutput(
  spec: z.output<typeof containsSchema> | z.output<typeof matchesSchema>,
  context: GateContext,
): Promise<GateFinding> {
  const search = searchFor(spec)
  if (search.kind === 'bad') return { passed: false, message: search.message, detail: search.detail }
  const run = await runForOutput(spec, context)
  if (run.kind === 'broken') return run.finding
  const found = search.find(run.stdout)
  const note = found === null ? truncationNote(run.truncated) : ''
  return {
    passed: found !== null,
    message: `stdout of ${commandName(spec.command)} ${search.said(found)}${note}`,
    detail: { ...search.detail(found), ...run.detail },
  }
}
