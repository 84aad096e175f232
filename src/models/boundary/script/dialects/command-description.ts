/** For agents that want to be told what a command is for. */
export const commandDescription = 'Scripted command'
