import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { createColors } from 'picocolors'
import { counted, formatCount } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import type { CassetteContent, ExchangeView } from '../../models/boundary/cassette/contract.ts'
import { shortenEnd, shortenMiddle } from '../../report/display-width.ts'
import { plainLine, plainText } from '../../report/plain-text.ts'
import type { CliContext } from '../context.ts'
import { wholeNumber } from '../flag-values.ts'

export function inspectCommand(context: CliContext): Command {
  return new Command('inspect')
    .description('Show the calls in a cassette, with their answers and tokens.')
    .argument('<dir>', 'directory of the cassette')
    .argument('[exchange]', 'number of one exchange to show in full', wholeNumber)
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (dir: string, exchange: number | undefined, flags: { readonly json?: boolean }) => {
      const { readCassette } = await import('../../models/boundary/cassette/read-cassette.ts')
      const content = readCassette(resolve(context.cwd, dir))
      if (exchange !== undefined) return printExchange(content, exchange, flags.json === true, context)
      if (flags.json === true) context.stdout.write(`${JSON.stringify(content, null, 2)}\n`)
      else printCassette(content, context)
    })
}

function printCassette(content: CassetteContent, { stdout }: CliContext): void {
  const paint = createColors(stdout.color)
  const { gantryVersion, recordedAt, facts, complete, exchanges } = content
  const who = Object.values(facts).filter((value) => typeof value === 'string' && value !== '')
  const say = (line: string): void => stdout.write(`${line}\n`)
  say(`${counted(exchanges.length, 'exchange')}, recorded ${recordedAt} by Gantry ${gantryVersion}`)
  if (who.length > 0) say(shortenMiddle(plainLine(who.join(', ')), Math.max(10, stdout.columns)))
  if (!complete) say(paint.yellow('The recording was interrupted: it cannot be replayed strictly.'))
  for (const exchange of exchanges) {
    const { index, api, kind, model, status, tokens } = exchange
    const used =
      tokens === null
        ? ''
        : `  ${formatCount(tokens.input + tokens.cacheRead + tokens.cacheWrite)} in, ${formatCount(tokens.output)} out`
    const number = String(index).padStart(4)
    const head = `${api}  ${kind}  ${plainLine(model)}  ${status}${used}`
    say(`\n${paint.bold(number)}  ${shortenEnd(head, Math.max(10, stdout.columns - 6))}`)
    say(`      ${paint.dim('>')} ${fitted(exchange.lastMessage, stdout.columns - 8)}`)
    for (const line of answerLines(exchange))
      say(`      ${paint.dim('<')} ${fitted(line, stdout.columns - 8)}`)
  }
}

function printExchange(
  { dir, exchanges }: CassetteContent,
  wanted: number,
  asJson: boolean,
  { stdout }: CliContext,
): void {
  const exchange = exchanges.find(({ index }) => index === wanted)
  if (exchange === undefined)
    throw new GantryError('NOT_FOUND', `the cassette has no exchange ${wanted}`, {
      hint:
        exchanges.length === 0 ? 'It has none at all.' : `They are numbered from 1 to ${exchanges.length}.`,
    })
  if (asJson) {
    stdout.write(`${JSON.stringify(exchange, null, 2)}\n`)
    return
  }
  const { api, kind, model, status, lastMessage, text, toolCalls } = exchange
  stdout.write(`${api} ${kind} of ${plainLine(model)}: ${status}\n\n> ${plainText(lastMessage)}\n`)
  if (text !== '') stdout.write(`\n${plainText(text)}\n`)
  for (const { name, input } of toolCalls)
    stdout.write(`\n${plainLine(name)} ${plainText(JSON.stringify(input, null, 2))}\n`)
  stdout.write(`\nThe whole request and answer: ${join(dir, `${String(wanted).padStart(4, '0')}.json`)}\n`)
}

function answerLines({ text, toolCalls, status }: ExchangeView): string[] {
  const lines = [
    ...(text === '' ? [] : [text]),
    ...toolCalls.map(({ name, input }) => `${name} ${JSON.stringify(input)}`),
  ]
  return lines.length > 0 ? lines : [`(an answer of status ${status} without text)`]
}

/** One line, whatever the width of the terminal. */
function fitted(text: string, columns: number): string {
  return shortenEnd(plainLine(text), Math.max(10, columns))
}
