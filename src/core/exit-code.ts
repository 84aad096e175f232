/** What the process tells its caller. One code per class of outcome, shared by every command. */
export const exitCode = {
  pass: 0,
  failed: 1,
  usage: 2,
  infra: 3,
  inconclusive: 4,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]
