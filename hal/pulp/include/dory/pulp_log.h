/* Where text goes. The default writes gvsoc's stdout registers; an application may define the function itself. */
#ifndef DORY_PULP_LOG_H
#define DORY_PULP_LOG_H

#ifdef __cplusplus
extern "C" {
#endif

/* Either side. Writes one character. */
void pulp_log_character(char character);

#ifdef __cplusplus
}
#endif

#endif
