import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { declaredAs, guardStory, type ShellHow } from '../../../test/support/guard-story.ts'
import type { ToolOutcome } from '../../core/hook-event.ts'
import { kindOfCommand } from '../../core/kind-of-command.ts'
import { recordEvidence } from '../../rules/record-evidence.ts'
import { commandStatus } from './command-status.ts'

interface Case extends ShellHow {
  readonly name: string
  readonly command: string
  readonly declared?: readonly string[]
  readonly outcome?: Partial<ToolOutcome>
  /** `none-or-rejected`: nothing ran that could count, so a rejection is optional. */
  readonly expect: 'green' | 'red' | 'hollow' | 'rejected' | 'none-or-rejected'
  readonly why?: string
}

const file = join(import.meta.dirname, '../../../test/corpus/guard/fake-green.jsonl')
const cases = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line): Case => JSON.parse(line))

test('the corpus is large and its names are unique', () => {
  expect(cases.length).toBeGreaterThanOrEqual(70)
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
})

test.each(cases)('$name', ({ command, declared = ['npm test'], outcome = {}, why, ...rest }) => {
  const story = guardStory([recordEvidence])
  const commands = declared.map((each) => declaredAs(each, { kind: kindOfCommand(each) }))
  story.start(commands)
  story.run(command, outcome, rest)
  const [wanted] = commands
  if (wanted === undefined) throw new Error('a case without a declared command')
  const { evidence } = story.history
  const status = commandStatus(wanted, evidence, story.disk.tree ?? '')
  const rejected = evidence.rejected[wanted.command]
  if (rest.expect === 'rejected' || rest.expect === 'none-or-rejected') {
    expect(evidence.byCommand).toEqual({})
    if (rest.expect === 'rejected') expect(rejected).toContain(why ?? '')
  } else {
    expect({ kind: status.kind, rejected }).toEqual({ kind: rest.expect, rejected: undefined })
  }
})
