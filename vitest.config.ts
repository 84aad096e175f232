import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { ShortTextsFirst } from './scripts/short-texts-first.ts'
import { keepFilesInMemory } from './test/support/files-in-memory.ts'

keepFilesInMemory()
// Most test files load much of the source: the first one compiles it for all.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/gantry/compiled')
const loadQuickly = ['test/support/load-source-quickly.ts']

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

/** Tests that start many processes, work a disk hard or compute for seconds: `npm run check` leaves them out. */
const slow = '{src,test}/**/*.slow.test.ts'

/** Crash loops, installed packages, everything once more as another user: `npm run test:all` runs these, `npm test` does not. */
const long = ['src/**/*.long.test.ts', 'test/e2e/**/*.long.test.ts']

/** Whole commands in the process of the test, which get all they need as arguments: many files can share one process. */
const shareable = ['test/e2e/scenario-contract/*.test.ts']

/** Tests that start the program start it as it is published. */
const buildProgram = ['test/support/build-program.ts']

/** A test that hangs ends. No test judges by its time, so this is far more than a busy machine needs. */
const shared = {
  setupFiles: loadQuickly,
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 600_000 } },
}

/** Real agents: `scripts/test-agents.ts` installs them and gives them a network of their own. */
const agents = {
  globalSetup: [...buildProgram, 'test/agents/name-server.ts'],
  ...shared,
}

export default defineConfig({
  test: {
    // Most tests wait for processes part of their time, so that one more than there are cores keeps all of them busy.
    maxWorkers: availableParallelism() + 1,
    // Node runs the source as it is, here as in production. Transforming it first would cost as much as a third of the tests.
    // No test mocks a module, so that nothing has to read the test files for mocks.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: ShortTextsFirst },
    reporters: ['default', './scripts/closing-line-reporter.ts'],
    projects: [
      {
        test: {
          name: 'pure',
          include: pure,
          exclude: [slow, ...long],
          ...shared,
          setupFiles: ['test/support/refuse-processes.ts', ...loadQuickly],
          pool: 'threads',
          isolate: false,
        },
      },
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/*.test.ts'],
          exclude: [...pure, slow, ...long],
          // Each of these puts back what it changes of its process, so that many files can share one and load the source once.
          isolate: false,
          ...shared,
        },
      },
      { test: { name: 'slow', include: [slow], globalSetup: buildProgram, ...shared } },
      { test: { name: 'long', include: long, globalSetup: buildProgram, ...shared } },
      { test: { name: 'agents', include: ['test/agents/*.test.ts'], ...agents } },
      { test: { name: 'agents-long', include: ['test/agents/long/*.test.ts'], ...agents } },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...shareable, ...long],
          globalSetup: buildProgram,
          ...shared,
        },
      },
      {
        test: {
          name: 'e2e-shared',
          include: shareable,
          exclude: long,
          globalSetup: buildProgram,
          // Half of their processor time would go into loading the source once for each file.
          isolate: false,
          ...shared,
        },
      },
    ],
  },
})
