import { z } from 'zod'
import { compilePattern } from '../core/pattern.ts'
import type { Gate } from './contract.ts'
import { excerpt } from './excerpt.ts'
import { command, description, expectExit, pattern, substring, timeoutSecs } from './fields.ts'
import { commandName, exitText, runCommand, runForOutput, truncationNote } from './run-command.ts'

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
  async check(spec, context) {
    const run = await runForOutput(spec, context)
    if (run.kind === 'broken') return run.finding
    const passed = run.stdout.includes(spec.substring)
    const wanted = excerpt(spec.substring, 200)
    const verb = passed ? 'contains' : 'does not contain'
    const note = passed ? '' : truncationNote(run.truncated)
    return {
      passed,
      message: `stdout of ${commandName(spec.command)} ${verb} "${wanted}"${note}`,
      detail: { substring: excerpt(spec.substring), ...run.detail },
    }
  },
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
  async check(spec, context) {
    const compiled = compilePattern(spec.pattern)
    if (compiled.kind === 'bad')
      return {
        passed: false,
        message: `the pattern is invalid: ${compiled.message}`,
        detail: { pattern: spec.pattern },
      }
    const run = await runForOutput(spec, context)
    if (run.kind === 'broken') return run.finding
    const match = compiled.pattern.exec(run.stdout)
    const verb = match === null ? 'does not match' : 'matches'
    const note = match === null ? truncationNote(run.truncated) : ''
    return {
      passed: match !== null,
      message: `stdout of ${commandName(spec.command)} ${verb} /${excerpt(spec.pattern, 200)}/${note}`,
      detail: {
        pattern: spec.pattern,
        ...(match === null ? {} : { matched: excerpt(match.text) }),
        ...run.detail,
      },
    }
  },
} satisfies Gate<z.output<typeof matchesSchema>>
