import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PluginFinding } from '../../plugin/analyze/contract.ts'
import type { CliContext } from '../context.ts'
import { findingLines, findingSummary, printReport } from './print-report.ts'

const plain = { color: false }

function finding(code: string, line: number): PluginFinding {
  return {
    code,
    severity: 'warning',
    message: `wrong ${line}`,
    suggestion: 'Fix it.',
    components: [],
    path: 'a.md',
    line,
  }
}

test('a kind of finding is one entry of the summary, however often it occurs', () => {
  const many = Array.from({ length: 400 }, (_, index) => finding('HOOK_INVALID', index + 1))
  expect(findingSummary([...many, finding('UNKNOWN_TOOL', 7)], plain, 100)).toEqual([
    '  warning HOOK_INVALID 400 times, first  a.md:1',
    '    wrong 1',
    '    Fix it.',
    '  warning UNKNOWN_TOOL  a.md:7',
    '    wrong 7',
    '    Fix it.',
  ])
})

test('a report longer than a screen is at most 40 lines, and a file', () => {
  const root = mkdtempSync(join(tmpdir(), 'gantry-findings-'))
  try {
    const many = Array.from({ length: 600 }, (_, index) => finding(`KIND_${index}`, index + 1))
    const report = {
      lines: findingLines(many, { color: true }, 80),
      summary: findingSummary(many, plain, 80),
    }
    const print = (verbose: boolean): string => {
      const written: string[] = []
      const stdout = {
        write: (part: string) => void written.push(part),
        color: false,
        isTTY: false,
        columns: 80,
      }
      const context = { stdout, cwd: root, env: { AGENT_ARTIFACT_DIR: root } } as unknown as CliContext
      printReport(report, { name: 'my plug/in', verbose }, context)
      return written.join('')
    }
    const short = print(false)
    expect(short.trimEnd().split('\n').length).toBeLessThanOrEqual(40)
    const file = join(root, 'analysis', 'my-plug-in.txt')
    expect(short).toContain(`Everything (2,400 lines): ${file}`)
    expect(readFileSync(file, 'utf8')).toContain('\n  warning KIND_599  a.md:600\n')
    expect(print(true).split('\n').length).toBeGreaterThan(2_400)
  } finally {
    rmSync(root, { recursive: true })
  }
})
