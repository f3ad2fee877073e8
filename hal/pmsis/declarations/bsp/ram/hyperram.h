#ifndef DORY_HYPERRAM_DECLARATIONS_H
#define DORY_HYPERRAM_DECLARATIONS_H

struct pi_hyperram_conf {
    int hyper_itf, hyper_cs;
};
void pi_hyperram_conf_init(struct pi_hyperram_conf *conf);

#endif
