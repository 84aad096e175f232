import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { needs } from '../../support/needs.ts'
import { hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts'
import { type RunDocument, startGantry } from '../support/gantry.ts'
import { smallProject } from '../support/project.ts'

let server: PostgresServer

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres()
})
afterAll(() => server?.stop())

needs('PostgreSQL', hasPostgres)(
  'kill -9 of one worker of three: every trial has one record, and one result',
  async () => {
    using lab = smallProject({
      config: {
        agents: {
          slow: { driver: 'command', command: ['sh', './agent.sh'], output: 'text', inherit_env: ['LEDGER'] },
        },
      },
      files: {
        'agent.sh': 'echo start >> "$LEDGER"; sleep 1; echo done > done.txt; echo end >> "$LEDGER"\n',
      },
    })
    const ledger = join(lab.home, 'ledger')
    appendFileSync(ledger, '')
    const starts = (): number => readFileSync(ledger, 'utf8').split('start').length - 1
    const queue = await server.database()
    const submitter = startGantry(
      lab,
      ['test', '--agent', 'slow', '--repeat', '12', '--json', '--queue', queue],
      {
        env: { LEDGER: ledger },
      },
    )
    const workers = [1, 2, 3].map((index) => {
      const cwd = join(lab.home, `machine-${index}`)
      mkdirSync(cwd)
      return startGantry(lab, ['work', '-j', '1', '--queue', queue], { cwd, env: { LEDGER: ledger } })
    })
    await expect.poll(starts).toBeGreaterThanOrEqual(3)
    workers[0]?.child.kill('SIGKILL')
    const { code, stdout } = await submitter.ended
    for (const { child } of workers) child.kill('SIGTERM')
    await Promise.all(workers.map(({ ended }) => ended))
    expect(code).toBe(0)
    const run = JSON.parse(stdout) as RunDocument
    expect(run.summary).toMatchObject({ verdict: 'pass', counts: { pass: 12 }, notRun: 0 })
    expect(new Set(run.trials.map(({ id }) => id)).size).toBe(12)
    expect(starts()).toBeLessThanOrEqual(13)
  },
)
