import type { Reporter, TestModule } from 'vitest/node'

/** Ends a test run with one plain line that any CI can read: "N passed, N failed, N skipped". */
export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>): void {
    const count = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) count[test.result().state] += 1
      // A file that does not load has no tests, and must not look green.
      if (module.state() === 'failed' && module.children.size === 0) count.failed += 1
    }
    process.stdout.write(
      `\n${count.passed} passed, ${count.failed} failed, ${count.skipped + count.pending} skipped\n`,
    )
  }
}

// vitest loads a reporter file by its default export.
export default ClosingLineReporter
