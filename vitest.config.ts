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

/** Crash loops, installed packages, everything once more as another user: `npm run test:all` runs these, `npm test` does not. */
const long = ['src/**/*.long.test.ts', 'test/e2e/**/*.long.test.ts']

/** Tests that start the program start it as it is published. */
const buildProgram = ['test/support/build-program.ts']

/** A test that hangs ends. No test judges by its time, so this is far more than a busy machine needs. */
const patience = { testTimeout: 120_000, hookTimeout: 300_000 }

/** Real agents: `scripts/test-agents.ts` installs them and gives them a network of their own. */
const agents = {
  globalSetup: [...buildProgram, 'test/agents/name-server.ts'],
  ...patience,
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
          exclude: [slow, ...long],
          setupFiles: ['test/support/refuse-processes.ts'],
          pool: 'threads',
          isolate: false,
          ...patience,
        },
      },
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/*.test.ts'],
          exclude: [...pure, slow, ...long],
          // Each of these puts back what it changes of its process, so that many files can share one and load the source once.
          isolate: false,
          ...patience,
        },
      },
      { test: { name: 'slow', include: [slow], globalSetup: buildProgram, ...patience } },
      { test: { name: 'long', include: long, globalSetup: buildProgram, ...patience } },
      { test: { name: 'agents', include: ['test/agents/*.test.ts'], ...agents } },
      { test: { name: 'agents-long', include: ['test/agents/long/*.test.ts'], ...agents } },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: long,
          globalSetup: buildProgram,
          ...patience,
        },
      },
    ],
  },
})
