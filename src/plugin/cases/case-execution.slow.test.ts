import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { makeDemoPlugin } from '../../../test/support/demo-plugin.ts'
import { openExecuteLab } from '../../../test/support/execute-lab.ts'
import { gradeTrial } from './grade-trial.ts'
import { readCases } from './read-cases.ts'

test('a case is executed and graded from the stored trial, after its workspace is gone', async () => {
  const fixture = await createFixture({
    'evals/look/prompt.md': '---\nruns: 1\nallowed_tools: [Write]\n---\nls\n',
    'evals/look/case.yaml': 'schema_version: "1.1"\nname: look\ncontext: {scaffold_script: s.sh}\n',
    'evals/look/s.sh': 'printf "from the script" > notes.txt\n',
    'evals/look/graders/content.md':
      '---\ntype: regex\ntarget: {source: file, path: notes.txt}\n---\n^from the script$\n',
    'evals/look/graders/out.md': '---\ntype: regex\ntarget: {source: file, path: ../notes.txt}\n---\nx\n',
    'evals/look/graders/made.md': '---\ntype: file_exists\npath: notes.txt\n---\n',
    'evals/look/graders/says.md': '---\ntype: regex\n---\nnotes\\.txt\n',
  })
  onTestFinished(() => fixture.rm())
  const program = fixture.getPath('claude')
  const standIn = join(import.meta.dirname, '../execute/fixtures/stand-in.mjs')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${standIn}' "$@"\n`)
  chmodSync(program, 0o755)
  const lab = openExecuteLab(program)
  onTestFinished(() => lab.close())
  const plugin = makeDemoPlugin(join(lab.dir, 'plugin'))
  const root = fixture.path.replace(/\/$/, '')
  const { scenarios, problems } = await readCases(root, { plugin: { ...plugin, manifest: {} } })
  expect(problems).toEqual([])
  const [scenario] = scenarios
  if (scenario === undefined) throw new Error('no case')
  const result = await lab.run({
    plugin,
    scenarios,
    config: { execution: { env: { STAND_IN: '', STAND_IN_STATE: lab.dir } } },
    more: { allowScaffold: true },
  })
  const execution = result.execution('look')
  expect(execution.kept_files).toEqual({
    'notes.txt': { kind: 'text', text: 'from the script' },
    '../notes.txt': { kind: 'refused', reason: expect.stringContaining('leads out') },
  })
  const { gates, score } = await gradeTrial(scenario, execution, result.transcript('look'), {
    arms: ['alone'],
    judge: null,
  })
  expect(gates.map(({ gate }) => [gate.detail.grader, gate.passed])).toEqual([
    ['content', true],
    // Created by the script, not by the agent.
    ['made', false],
    ['out', false],
    ['says', true],
  ])
  expect(score).toBe(0.5)
})
