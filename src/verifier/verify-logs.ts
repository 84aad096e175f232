import type { Redaction } from '../core/redaction.ts'
import { withoutEscapes } from '../core/test-output/count-tests.ts'
import { cappedOutput, cappedText } from '../io/capped-output.ts'
import { createLogFile, type LogFile } from '../io/log-file.ts'
import type { LiveRun } from '../store/contract.ts'
import type { VerificationStep } from './contract.ts'
import { logTail } from './log-tail.ts'

/** The combined log of a run and one log per step, redacted and written as the output arrives. */
export type VerifyLogs = ReturnType<typeof openVerifyLogs>

export type StepLog = ReturnType<typeof stepLog>

/** Limits for one step, in the combined log and in its own. */
const bound = { headBytes: 62 * 1024 * 1024, tailBytes: 2 * 1024 * 1024 }
/** For counting tests. */
const maxKeptBytes = 2 * 1024 * 1024
const tailLines = 200

export function openVerifyLogs(run: LiveRun, redaction: Redaction) {
  const paths = [run.logPath('combined.log')]
  const combined = createLogFile(paths[0] ?? '')
  const tail = logTail(tailLines)
  const decoder = new TextDecoder()
  const open = new Set<LogFile>([combined])
  const separate = (): void => {
    tail.push('\n')
    combined.write(Buffer.from('\n'))
  }
  return {
    /** Absolute paths of all logs so far, the combined one first. */
    paths,
    openStep: (index: number, count: number, step: VerificationStep): StepLog => {
      const path = run.logPath(logName(index, step.name))
      const own = createLogFile(path)
      open.add(own)
      paths.push(path)
      const write = (bytes: Uint8Array): void => {
        tail.push(decoder.decode(bytes, { stream: true }))
        for (const file of [own, combined]) file.write(bytes)
      }
      if (index > 0) separate()
      const log = stepLog(write, redaction, headerOf(index, count, step, redaction))
      const finish: StepLog['finish'] = (ending) => {
        const rest = log.finish(ending)
        own.close()
        open.delete(own)
        return rest
      }
      return { ...log, finish }
    },
    /** Last 200 lines of the combined log. */
    tail: tail.text,
    close: (): void => {
      for (const file of open) file.close()
    },
  }
}

function stepLog(write: (bytes: Uint8Array) => void, redaction: Redaction, header: string) {
  const kept = cappedOutput(maxKeptBytes)
  const pieces = redaction.chunks()
  const log = boundedLog(bound, write)
  let endsInNewline = true
  const put = (text: string): string => {
    if (text === '') return ''
    endsInNewline = text.endsWith('\n')
    kept.push(Buffer.from(text))
    log.write(withOwnLinesMarked(text))
    return text
  }
  write(Buffer.from(header))
  return {
    /** Returns the part that can be shown now. Throws GantryError when the disk is full or fails. */
    output: (chunk: Uint8Array): string => put(pieces.push(chunk)),
    /** Called when the output has ended. Returns the rest to show. `ending`: lines after the output. */
    finish: (ending: readonly string[]): string => {
      const rest = put(pieces.end())
      log.finish()
      write(Buffer.from(`${endsInNewline ? '' : '\n'}${ending.map((line) => `${line}\n`).join('')}`))
      return rest
    },
    /** The output of the step, with its middle cut out when it is long. */
    text: (): string => cappedText(kept),
  }
}

/**
 * Output with a mark before each line that would look like one of this log, also by what a terminal or a reader does not see. Such a line
 * loses its control sequences, because one of them could erase the mark.
 */
export function withOwnLinesMarked(text: string): string {
  return text.replaceAll(/^.+$/gm, (line) => {
    const seen = withoutEscapes(line.slice(0, maxSeenChars)).replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    return ownLine.test(seen.trimStart()) ? `| ${seen}${line.slice(maxSeenChars)}` : line
  })
}

const maxSeenChars = 2_000
const ownLine =
  /^(?:=== Step \d|--- (?:exit code: |timed out after |killed at |cancelled ---|infrastructure error: )|\[\.\.\. \d+ (?:bytes|characters) cut)/

function headerOf(
  index: number,
  count: number,
  { name, command }: VerificationStep,
  { text }: Redaction,
): string {
  const oneLine = text(name)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return `=== Step ${index + 1}/${count}: ${oneLine} ===\n$ ${text(command)}\n\n`
}

const maxChars = 80

/** `step-02-unit-tests.log`: the step's name, reduced to characters that all systems allow; its number makes it unique. */
export function logName(index: number, name: string): string {
  const safe = name
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, maxChars)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
  return `step-${String(index + 1).padStart(2, '0')}-${safe === '' ? 'unnamed' : safe}.log`
}

interface LogBound {
  /** Passed on at once. */
  readonly headBytes: number
  /** Approximate size of the end that is kept. */
  readonly tailBytes: number
}

/**
 * Passes text on up to a limit. Of the rest only the end is kept, and written when the log is finished. A step that prints
 * without end must fill neither the disk nor the memory, and its end matters most.
 */
export function boundedLog({ headBytes, tailBytes }: LogBound, write: (bytes: Buffer) => void) {
  let room = headBytes
  let kept: Buffer[] = []
  let keptBytes = 0
  let cutBytes = 0
  const keep = (bytes: Buffer): void => {
    kept.push(bytes)
    keptBytes += bytes.length
    while (kept.length > 1 && keptBytes - (kept[0]?.length ?? 0) >= tailBytes) {
      const length = kept.shift()?.length ?? 0
      keptBytes -= length
      cutBytes += length
    }
  }
  return {
    write: (text: string): void => {
      const bytes = Buffer.from(text)
      if (room <= 0) {
        keep(bytes)
        return
      }
      const end = bytes.length <= room ? bytes.length : characterStart(bytes, room)
      write(bytes.subarray(0, end))
      room = end === bytes.length ? room - end : 0
      // Copied, so that the whole chunk is not kept in memory.
      if (end < bytes.length) keep(Buffer.from(bytes.subarray(end)))
    },
    finish: (): void => {
      if (keptBytes === 0) return
      const all = Buffer.concat(kept)
      const start = all.length <= tailBytes ? 0 : lineStart(all, all.length - tailBytes)
      const cut = cutBytes + start
      if (cut > 0) write(Buffer.from(`\n[... ${cut} bytes cut ...]\n`))
      write(all.subarray(start))
      kept = []
      keptBytes = 0
    },
  }
}

function characterStart(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1
  return start
}

/** The next line if one starts soon, else the next character. */
function lineStart(bytes: Buffer, at: number): number {
  const newline = bytes.indexOf(10, at)
  if (newline !== -1 && newline - at < 65_536) return newline + 1
  let start = at
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return start
}
