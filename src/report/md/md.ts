import type { ReporterFactory } from '../contract.ts'
import { trialLink } from '../trial-link.ts'
import { runMarkdown } from './run-markdown.ts'

/** The run as a Markdown document. */
export const mdReporter: ReporterFactory = ({ sink, path }) => ({
  async runEnded(run) {
    const linkOf = path === undefined ? {} : { linkOf: trialLink(path) }
    for await (const piece of runMarkdown(run, { maxCases: 2_000, ...linkOf })) {
      sink.write(piece)
      await sink.drain?.()
    }
  },
})
