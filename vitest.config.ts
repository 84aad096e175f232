import { defineConfig } from 'vitest/config'

/**
 * Rooms that start no process: their tests can share a thread, which saves starting one for each file. Of the rules some ask git,
 * and a process that outlives the thread which started it is never waited for.
 */
const pure = [
  'core/**/*',
  'analysis/**/*',
  'judge/**/*',
  'models/**/*',
  'agents/hooks/**/*',
  'rules/*',
  'shell/**/*',
  'guard-engine/!(open-guard)',
  'guard-engine/{context,evidence,history,loops,settings,store-event,trace}/**/*',
].map((files) => `src/${files}.test.ts`)

/** Tests beside their source that start many processes or work a disk hard: `npm run check` leaves them out. */
const slow = 'src/**/*.slow.test.ts'

/** Tests that start the program start it as it is published. */
const buildProgram = ['test/support/build-program.ts']

/** Real agents: `npm run test:agents` installs them and gives them a network of their own. */
const agents = {
  globalSetup: [...buildProgram, 'test/agents/name-server.ts'],
  testTimeout: 120_000,
  hookTimeout: 60_000,
}

export default defineConfig({
  test: {
    // Most tests wait for processes; leaving a core idle, as is the default, would double the time on a small machine.
    maxWorkers: '100%',
    // Node runs the source as it is, here as in production. Transforming it first would cost as much as a third of the tests.
    experimental: { viteModuleRunner: false },
    reporters: ['default', './scripts/closing-line-reporter.ts'],
    projects: [
      {
        test: {
          name: 'pure',
          include: pure,
          exclude: [slow],
          setupFiles: ['test/support/refuse-processes.ts'],
          pool: 'threads',
          isolate: false,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/*.test.ts'],
          exclude: [...pure, slow],
          // Each of these puts back what it changes of its process, so that many files can share one and load the source once.
          isolate: false,
          testTimeout: 20_000,
        },
      },
      { test: { name: 'slow', include: [slow], globalSetup: buildProgram, testTimeout: 20_000 } },
      { test: { name: 'agents', include: ['test/agents/*.test.ts'], ...agents } },
      { test: { name: 'agents-long', include: ['test/agents/long/*.test.ts'], ...agents } },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: buildProgram,
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
})
