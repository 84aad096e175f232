import { z } from 'zod'
import { compilePattern } from '../core/pattern.ts'
import type { Gate } from './contract.ts'
import { excerpt } from './excerpt.ts'
import { command, description, expectExit, pattern, timeoutSecs } from './fields.ts'
import { commandName, runForOutput, truncationNote } from './run-command.ts'

const schema = z
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
  schema,
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
} satisfies Gate<z.output<typeof schema>>
