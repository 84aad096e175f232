import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { evaluatePlugin, type PluginEvaluationOptions } from './evaluate-plugin.ts'
import { evaluationFiles, readScenarios } from './pipeline/evaluation-files.ts'

const plugin = join(import.meta.dirname, '../../examples/plugin/overlapping')

test('a run is continued with its filters and its permission for set-up commands', async () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-plugin-')))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  const env = { PATH: process.env.PATH, HOME: top, AGENT_ARTIFACT_DIR: join(top, 'store') }
  const evaluate = async (options: Omit<PluginEvaluationOptions, 'cwd' | 'env'>) => {
    const ends = await evaluatePlugin({ cwd: top, env, ...options })
    expect(ends).toHaveLength(1)
    return ends[0]
  }
  const analysed = await evaluate({
    overrides: { plugin, cases: false },
    until: 'analysis',
    filters: ['-direct-1'],
    scaffold: true,
  })
  const generated = await evaluate({ resume: { run: 'latest' }, until: 'generation' })
  expect(generated).toMatchObject({ runId: analysed?.runId, pluginName: 'overlapping', interrupted: false })
  const files = evaluationFiles(generated?.runDir ?? '')
  const ids = readScenarios(files).map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(0)
  expect(ids.filter((id) => !id.includes('-direct-1'))).toEqual([])
  expect(JSON.parse(readFileSync(files.config, 'utf8'))).toMatchObject({ allow_scaffold: true })
})
