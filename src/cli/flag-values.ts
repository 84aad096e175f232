import { InvalidArgumentError, Option } from 'commander'
import { parseDuration } from '../core/duration.ts'
import { parseUsd } from '../core/parse-usd.ts'
import { replayModes } from '../models/boundary/model-link.ts'

/** `a,b` and repeated flags both add to the list. */
export function list(value: string, before: readonly string[] = []): string[] {
  return [
    ...before,
    ...value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  ]
}

/** Like `list`, but an empty name is a mistake. */
export function names(value: string, before?: readonly string[]): string[] {
  if (value.split(',').every((part) => part.trim() !== '')) return list(value, before)
  throw new InvalidArgumentError('Write names with commas between them.')
}

export function repeated(value: string, before: readonly string[] = []): string[] {
  return [...before, value]
}

export function reporterOption(): Option {
  const names = 'console, json, junit, tap, md, html, github, blob:DIR or a module such as ./reporter.js'
  return new Option('--reporter <name[:path]>', `${names}; repeatable`).argParser(repeated)
}

export function replayOption(): Option {
  const modes = 'off, record, strict (only recorded traffic), auto (record what is missing)'
  return new Option(
    '--replay <mode>',
    `record or replay the traffic between agents and models: ${modes}`,
  ).choices(replayModes)
}

export function count(value: string): number {
  const number = Number(value)
  if (Number.isInteger(number) && number >= 1) return number
  throw new InvalidArgumentError('Write a whole number from 1 up.')
}

export function wholeNumber(value: string): number {
  const number = Number(value)
  if (value.trim() !== '' && Number.isInteger(number) && number >= 0) return number
  throw new InvalidArgumentError('Write a whole number from 0 up.')
}

export function port(value: string): number {
  const number = Number(value)
  if (value.trim() !== '' && Number.isInteger(number) && number >= 0 && number <= 65_535) return number
  throw new InvalidArgumentError('Write a port from 0 to 65535.')
}

export function usd(value: string): number {
  const number = parseUsd(value)
  if (number !== null) return number
  throw new InvalidArgumentError('Write an amount in US dollars above 0, for example 2.50.')
}

export function share(value: string): number {
  const number = Number(value)
  if (value.trim() !== '' && number >= 0 && number <= 1) return number
  throw new InvalidArgumentError('Write a number from 0 to 1.')
}

export function duration(value: string): number {
  const milliseconds = parseDuration(value)
  if (milliseconds !== null && milliseconds > 0) return milliseconds
  throw new InvalidArgumentError('Write a number above 0 and its unit, for example 90s, 20m or 1h.')
}

/** Like `duration`, but also accepts zero. */
export function durationOrNone(value: string): number {
  return parseDuration(value) === 0 ? 0 : duration(value)
}
