export interface McpDomain {
  /** Found in the name of a server. */
  readonly keyword: string
  readonly direct: string
  readonly paraphrased: string
}

/** What people ask of servers whose name says what they are for. The first row whose word is in the name decides. */
export const mcpDomains: readonly McpDomain[] = [
  {
    keyword: 'github',
    direct: 'List the open issues of the GitHub repository octocat/hello-world.',
    paraphrased:
      'Which problems have people reported against octocat/hello-world that nobody has closed yet?',
  },
  {
    keyword: 'filesystem',
    direct: 'Use the filesystem server to list what is in the current directory.',
    paraphrased: 'By way of the filesystem server, show me which files lie around here.',
  },
  {
    keyword: 'weather',
    direct: 'What is the weather in Berlin right now?',
    paraphrased: 'Should I take an umbrella when I go out in Berlin today?',
  },
  {
    keyword: 'database',
    direct: 'Query the database for the ten newest rows of the users table.',
    paraphrased: 'Who were the last ten people to sign up, according to our records?',
  },
  {
    keyword: 'slack',
    direct: 'Post "the build is green" to the Slack channel #general.',
    paraphrased: 'Let everyone in #general know that the build is green.',
  },
  {
    keyword: 'search',
    direct: 'Search for recent articles about the TypeScript compiler.',
    paraphrased: 'What has been written lately about how TypeScript compiles code?',
  },
  {
    keyword: 'api',
    direct: 'Call the API and show me what its status endpoint returns.',
    paraphrased: 'Is the service up? Ask it for its status.',
  },
]
