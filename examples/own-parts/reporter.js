import { defineReporter } from 'gantry'

/** One line for each trial, for a log that is read by a program. */
export default defineReporter({
  name: 'lines',
  open: ({ sink }) => ({
    trialEnded: ({ verdict, case: name, agent }) => sink.write(`${verdict}\t${name}\t${agent}\n`),
    runEnded: ({ runId, summary }) => sink.write(`${summary.verdict}\t${runId}\n`),
  }),
})
