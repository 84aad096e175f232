import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { analyzePlugin } from './analyze-plugin.ts'

/** A plugin in the manner of public ones, what Claude Code 2.1.325 made of it, and a judgement of each of its findings. */
interface JudgedPlugin {
  readonly plugin: string
  /** `bytes`: the text is filled up to this size. */
  readonly files: Readonly<Record<string, string | { readonly text: string; readonly bytes: number }>>
  readonly findings: readonly JudgedFinding[]
}

interface JudgedFinding {
  readonly code: string
  readonly severity: string
  readonly path?: string
  readonly line?: number
  readonly judgement: 'true-useful' | 'true-noise' | 'false'
  /** What the session with Claude Code, `claude plugin validate` or its documentation shows. */
  readonly proof: string
}

const corpus: readonly JudgedPlugin[] = readFileSync(
  join(import.meta.dirname, '../../../test/corpus/plugin/findings.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

describe('the analysis gives exactly the judged findings', () => {
  test.each(corpus.map((each) => [each.plugin, each] as const))(
    'of %s',
    async (name, { files, findings }) => {
      const texts = Object.entries(files).map(([path, file]) => [
        `${name}/${path}`,
        typeof file === 'string' ? file : file.text.padEnd(file.bytes, 'x'),
      ])
      await using fixture = await createFixture(Object.fromEntries(texts))
      const outcome = await analyzePlugin({ path: fixture.getPath(name), cwd: fixture.path })
      if (outcome.kind !== 'analysed') throw new Error(outcome.preflight.errors[0]?.message)
      const plain = ({ code, severity, path, line }: Omit<JudgedFinding, 'judgement' | 'proof'>) =>
        `${severity} ${code} ${path ?? ''}:${line ?? ''}`
      expect(outcome.analysis.findings.map(plain).toSorted()).toEqual(findings.map(plain).toSorted())
    },
  )
})

test('at least 200 findings are judged with a proof, and at most 3 of 60 are false', () => {
  const judged = corpus.flatMap(({ findings }) => findings)
  expect(judged.length).toBeGreaterThanOrEqual(200)
  expect(judged.filter(({ proof }) => proof === '')).toEqual([])
  expect(judged.filter(({ judgement }) => judgement === 'false').length / judged.length).toBeLessThanOrEqual(
    3 / 60,
  )
})
