import { parse } from 'unbash'
import { describe, expect, test } from 'vitest'
import { readWrappedCommands, type WrappedCommand } from '../../test/support/wrapped-commands.ts'
import { simpleCommand } from '../shell/simple-command.ts'
import { unwrapPlain } from '../shell/unwrap-command.ts'
import { reasonFor } from './protection-corpus.conformance.ts'

const corpus = readWrappedCommands()

describe('a command inside a wrapper', () => {
  test('is refused as it is without one', () => {
    const missed = corpus.filter((each) => reasonFor({ command: harmful(each) }) === null)
    expect(missed.map(({ command }) => command)).toEqual([])
  })

  test('is not refused because of the wrapper', () => {
    const refused = corpus.filter(({ command }) =>
      reasonFor({ command: command.replace('tool a', 'cat .env') }),
    )
    expect(refused.map(({ command }) => command)).toEqual([])
  })

  test('counts as evidence only when the wrapper is understood and runs it unchanged', () => {
    const found = corpus.map(({ command }) => ({ command, evidence: innermost(command) }))
    expect(found).toEqual(corpus.map(({ command, evidence }) => ({ command, evidence })))
  })
})

/** The program and its argument may be apart: `--exec tool -- a`. */
function harmful({ command, harm = 'rm .env' }: WrappedCommand): string {
  const [program, argument] = harm.split(' ')
  return command.replace(/\btool( --)? a\b/, `${program}$1 ${argument}`)
}

function innermost(source: string): string | null {
  const [statement] = parse(source).commands
  if (statement?.command.type !== 'Command') return null
  const { command, script } = unwrapPlain(simpleCommand(statement.command), 'launched')
  const text = script?.source ?? command.words.join(' ')
  return text === source ? null : text.startsWith('tool') ? text : null
}
