import type { Redaction } from '../core/redaction.ts'
import { cappedOutput, cappedText } from '../io/capped-output.ts'
import { createLogFile, type LogFile } from '../io/log-file.ts'
import type { LiveRun } from '../store/contract.ts'
import { boundedLog } from './bounded-log.ts'
import type { VerificationStep } from './contract.ts'
import { logName } from './log-name.ts'
import { logTail } from './log-tail.ts'

/** The combined log of a run and one log per step, written as the output arrives and redacted before. */
export interface VerifyLogs {
  /** Absolute paths of all logs so far, the combined one first. */
  readonly paths: readonly string[]
  openStep(index: number, count: number, step: VerificationStep): StepLog
  /** Last 200 lines of the combined log. */
  tail(): string
  close(): void
}

export interface StepLog {
  /** Answers what of it could be shown by now. Throws GantryError when the disk does not take it. */
  output(chunk: Uint8Array): string
  /** No output comes any more. Answers the rest to be shown. `ending`: lines after the output. */
  finish(ending: readonly string[]): string
  /** What the step printed, its middle cut out when it was long. */
  text(): string
}

/** Of one step, in the combined log and in its own. */
const bound = { headBytes: 62 * 1024 * 1024, tailBytes: 2 * 1024 * 1024 }
/** For the count of its tests. */
const maxKeptBytes = 2 * 1024 * 1024
const tailLines = 200

export function openVerifyLogs(run: LiveRun, redaction: Redaction): VerifyLogs {
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
    paths,
    openStep: (index, count, step) => {
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
    tail: tail.text,
    close: () => {
      for (const file of open) file.close()
    },
  }
}

function stepLog(write: (bytes: Uint8Array) => void, redaction: Redaction, header: string): StepLog {
  const kept = cappedOutput(maxKeptBytes)
  const pieces = redaction.chunks()
  const log = boundedLog(bound, write)
  let endsInNewline = true
  const put = (text: string): string => {
    if (text === '') return ''
    endsInNewline = text.endsWith('\n')
    kept.push(Buffer.from(text))
    log.write(text)
    return text
  }
  write(Buffer.from(header))
  return {
    output: (chunk) => put(pieces.push(chunk)),
    finish: (ending) => {
      const rest = put(pieces.end())
      log.finish()
      write(Buffer.from(`${endsInNewline ? '' : '\n'}${ending.map((line) => `${line}\n`).join('')}`))
      return rest
    },
    text: () => cappedText(kept),
  }
}

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
