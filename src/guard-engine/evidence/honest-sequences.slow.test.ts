import { expect, test } from 'vitest'
import { guardStory } from '../../../test/support/guard-story.ts'
import {
  type CorpusSequence,
  corpusProject,
  editedSource,
  honestSequences,
  narrowRuns,
} from '../../../test/support/honest-corpus.ts'
import { completionGate } from '../../rules/completion-gate.ts'
import { recordEvidence } from '../../rules/record-evidence.ts'
import { discoverCommands } from '../project/discover-commands.ts'
import { isTestFile } from '../tests/test-files.ts'

/** The first stop after a session in a made-up project whose runners are green. */
function playSequence({ project: name, steps, output }: CorpusSequence) {
  const project = corpusProject(name)
  const files = new Map(Object.entries(project.files))
  const story = guardStory([recordEvidence, completionGate], { files })
  const commands = () => discoverCommands(projectFiles(files, project.links), { settings: [], plan: [] })
  const facts = { hash: '', cases: 1, skipped: 0, assertions: 1 }
  const tests = [...files.keys()].filter(isTestFile).map((path) => [path, facts] as const)
  story.disk.tests = { files: Object.fromEntries(tests), definitions: {} }
  story.start(commands())
  files.set(project.source, editedSource(project))
  story.edit(project.source, 'T1')
  const green = Object.values(project.programs).join('\n')
  for (const [index, step] of steps.entries())
    if (typeof step === 'string')
      story.run(step, { output: index === steps.length - 1 ? (output ?? green) : green })
    else
      for (const [path, text] of Object.entries(step.write)) {
        files.set(path, text)
        story.edit(path, `T-${path}`)
        if (story.disk.project) story.disk.project = { ...story.disk.project, commands: commands() }
      }
  return story.stop()
}

function projectFiles(files: ReadonlyMap<string, string>, links: readonly string[]) {
  const known = new Set([...files.keys(), ...links])
  const names = [...known].map((path) => path.replace(/\/.*$/, '/'))
  return { names: new Set(names), known, read: (name: string) => files.get(name) ?? null }
}

test('the corpora are large, cover many toolchains, and have unique names', () => {
  expect(honestSequences.length).toBeGreaterThanOrEqual(150)
  expect(narrowRuns.length).toBeGreaterThanOrEqual(60)
  expect(new Set(honestSequences.map(({ project }) => project)).size).toBeGreaterThanOrEqual(10)
  const names = [...honestSequences, ...narrowRuns].map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})

test.each(honestSequences)('$name: counts', (sequence) => {
  const { verdict, reason } = playSequence(sequence)
  expect({ verdict, reason }).toEqual({ verdict: 'pass', reason: null })
})

/** What the disk shows and made-up facts do not is tried with real hooks. */
const isPure = ({ steps }: CorpusSequence): boolean => steps.every((step) => typeof step === 'string')

test.each(narrowRuns.filter(isPure))('$name: does not count', (sequence) => {
  const { verdict, reason } = playSequence(sequence)
  expect(verdict).toBe('refuse')
  expect(reason).toContain(sequence.why ?? '')
})
