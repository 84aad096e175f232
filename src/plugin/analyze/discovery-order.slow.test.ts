import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { analyzePlugin } from './analyze-plugin.ts'

const text = (description: string) => `---\ndescription: ${description} of the garden and its plants\n---\n`
const names = ['a', 'B', 'b-1', '_c', 'é', 'a b', 'Z', '10', '2', '.d']
const files = [
  ...names.map((name) => [`skills/${name}/SKILL.md`, text(name)] as const),
  ...names.map((name) => [`commands/${name}.md`, text(name)] as const),
  ...names.map((name) => [`commands/x/${name}.md`, text(name)] as const),
  ...names.map((name) => [`agents/${name}.md`, text(name)] as const),
  ['skills/x.md', ''] as const,
  ['commands/y/SKILL.md', text('y')] as const,
]

test('findings do not depend on the order in which a directory lists its files', async () => {
  const found = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(files, { minLength: files.length }), async (order) => {
      const root = mkdtempSync(join(tmpdir(), 'gantry-order-'))
      try {
        write(root, '.claude-plugin/plugin.json', '{"name":"demo"}')
        for (const [path, content] of order) write(root, path, content)
        const outcome = await analyzePlugin({ path: root, cwd: root })
        if (outcome.kind !== 'analysed') throw new Error('refused')
        const { components, findings, listing, content_hash: hash } = outcome.analysis
        found.add(JSON.stringify({ components, findings, listing, hash }))
      } finally {
        rmSync(root, { recursive: true })
      }
      expect(found.size).toBe(1)
    }),
    { numRuns: 15 },
  )
})

function write(root: string, path: string, content: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), content)
}
